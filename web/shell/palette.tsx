import { Autocomplete } from '@base-ui/react/autocomplete';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type KeyboardEvent, useState } from 'react';
import { useLocation } from 'wouter';
import { type SearchResult, searchFor } from '../api/search.ts';
import { useDebounced } from '../components/debounced.ts';
import { Dialog } from '../components/dialog.tsx';
import { useFocusOnMount } from '../components/focus-on-mount.ts';
import formStyles from '../components/form.module.css';
import { LoadFailure } from '../components/notice.tsx';
import { showFailure } from '../components/toast.tsx';
import { useSession } from '../session/session.ts';
import { type Command, type CommandGroup, matching } from './commands.ts';
import type { CommandTarget, InstallCommand } from './install-commands.ts';
import styles from './palette.module.css';
import { describe, nameOf, pathOf } from './search-results.ts';
import { useSuggestedInstalls } from './suggested-installs.ts';
import { useCommands } from './use-commands.ts';

/** Runs commands, opens recent pages, and finds sites, installs, domains and tags in all accounts of the user. */
export function Palette({
  accountId,
  open,
  onOpenChange,
}: {
  accountId: string;
  open: boolean;
  onOpenChange(open: boolean): void;
}) {
  const [picking, pick] = useState<InstallCommand | null>(null);
  const change = (next: boolean) => {
    if (!next) pick(null);
    onOpenChange(next);
  };
  return (
    <Dialog
      open={open}
      onOpenChange={change}
      title={picking?.question ?? 'Search'}
      description={
        picking
          ? 'Choose an install or search by name. Press Backspace to return to all commands.'
          : 'Find a site, install, domain or tag, or run a command. Press Ctrl K on any page.'
      }
    >
      {picking ? (
        <InstallChoice
          accountId={accountId}
          command={picking}
          onBack={() => pick(null)}
          onDone={() => change(false)}
        />
      ) : (
        <AllCommands accountId={accountId} onPick={pick} onDone={() => change(false)} />
      )}
    </Dialog>
  );
}

const normal = (typed: string) => typed.trim().toLowerCase();

/** The commands that match, and what the server finds. */
function AllCommands({
  accountId,
  onPick,
  onDone,
}: {
  accountId: string;
  onPick(command: InstallCommand): void;
  onDone(): void;
}) {
  const [, navigate] = useLocation();
  const [typed, setTyped] = useState('');
  const isOneOfSeveral = useSession().accounts.length > 1;
  const open = (result: SearchResult) => {
    onDone();
    navigate(pathOf(result));
  };
  const search = useSearch(typed, open);
  const commands = useCommands(accountId, onPick);
  const found: CommandGroup = {
    value: 'Sites, installs, domains and tags',
    items: search.results.map((result) => ({
      id: `${result.kind} ${result.id} ${result.name}`,
      label: nameOf(result),
      detail: describe(result, isOneOfSeveral),
      run: () => open(result),
    })),
  };
  return (
    <CommandList
      label="Name or command"
      typed={typed}
      onTyped={setTyped}
      groups={[...matching(commands, typed), ...(found.items.length > 0 ? [found] : [])]}
      search={search}
      onRun={(command) => {
        if (!command.asks) onDone();
        command.run();
      }}
    />
  );
}

/** The installs that a command can be run for: suggestions of the account, or what the server finds in all accounts. */
function InstallChoice({
  accountId,
  command,
  onBack,
  onDone,
}: {
  accountId: string;
  command: InstallCommand;
  onBack(): void;
  onDone(): void;
}) {
  const queries = useQueryClient();
  const [typed, setTyped] = useState('');
  const isOneOfSeveral = useSession().accounts.length > 1;
  const runFor = (install: CommandTarget) => {
    onDone();
    command.run(install, queries);
  };
  const suggested = useSuggestedInstalls(accountId, command, runFor);
  const search = useSearch(typed, runFor, ({ kind }) => kind === 'install');
  const isTyped = normal(typed) !== '';
  const items = search.results.map((result) => ({
    id: result.id,
    label: result.name,
    detail: describe(result, isOneOfSeveral),
    run: () => runFor(result),
  }));
  return (
    <CommandList
      label="Name of the install"
      typed={typed}
      onTyped={setTyped}
      groups={isTyped ? (items.length > 0 ? [{ value: 'Installs', items }] : []) : suggested.groups}
      search={isTyped ? search : { ...search, ...suggested }}
      onRun={({ run }) => run()}
      onBack={onBack}
    />
  );
}

interface Search {
  results: readonly SearchResult[];
  /** Whether the results are those of the typed text. */
  isDone: boolean;
  more: boolean;
  error: Error | null;
  retry(): void;
  /** Chooses the first result, once it has arrived. */
  goToFirst(): void;
}

function useSearch(
  typed: string,
  choose: (result: SearchResult) => void,
  isWanted: (result: SearchResult) => boolean = () => true,
): Search {
  const queries = useQueryClient();
  const wanted = normal(typed);
  const asked = useDebounced(wanted);
  const query = useQuery(searchFor(asked));
  const shown = wanted === '' ? undefined : query.data;
  return {
    results: shown?.results.filter(isWanted) ?? [],
    isDone: wanted === '' || (asked === wanted && query.data !== undefined && !query.isPlaceholderData),
    more: shown?.more ?? false,
    error: wanted === '' ? null : query.error,
    retry: () => void query.refetch(),
    goToFirst() {
      if (wanted === '') return;
      queries.fetchQuery(searchFor(wanted)).then(({ results }) => {
        const first = results.find(isWanted);
        if (first) choose(first);
      }, showFailure);
    },
  };
}

function CommandList({
  label,
  typed,
  onTyped,
  groups,
  search,
  onRun,
  onBack,
}: {
  label: string;
  typed: string;
  onTyped(text: string): void;
  groups: readonly CommandGroup[];
  search: Search;
  onRun(command: Command): void;
  onBack?(): void;
}) {
  // Also when the palette asks for an install.
  const input = useFocusOnMount<HTMLInputElement>();
  const count = groups.reduce((sum, { items }) => sum + items.length, 0);

  function press(event: KeyboardEvent) {
    if (event.key === 'Backspace' && typed === '') onBack?.();
    // Fast typists press Enter before the response has arrived.
    if (event.key === 'Enter' && count === 0) search.goToFirst();
  }

  return (
    <search className={styles.palette}>
      <Autocomplete.Root
        inline
        open
        items={groups}
        filter={null}
        // A second Enter of fast typists chooses no install.
        autoHighlight={normal(typed) === '' && onBack ? false : 'always'}
        keepHighlight
        itemToStringValue={(command: Command) => command.label}
        value={typed}
        onValueChange={(text, { reason }) => {
          // A chosen command runs, and its label is no search.
          if (reason !== 'item-press') onTyped(text);
        }}
      >
        <Autocomplete.Input
          ref={input}
          className={formStyles.input}
          aria-label={label}
          placeholder={label}
          maxLength={200}
          autoCapitalize="none"
          autoComplete="off"
          spellCheck={false}
          onKeyDown={press}
        />
        {search.error && <LoadFailure error={search.error} onRetry={search.retry} />}
        <p className={styles.count} aria-live="polite">
          {typed !== '' && search.isDone && countWords(count, search.more)}
        </p>
        <Autocomplete.List className={styles.list}>
          {(group: CommandGroup) => (
            <Autocomplete.Group key={group.value} items={group.items} className={styles.group}>
              <Autocomplete.GroupLabel className={styles.heading}>{group.value}</Autocomplete.GroupLabel>
              <Autocomplete.Collection>
                {(command: Command) => (
                  <Autocomplete.Item
                    key={command.id}
                    value={command}
                    className={styles.command}
                    onClick={() => onRun(command)}
                  >
                    <span className={styles.label}>{command.label}</span>
                    {command.detail !== undefined && <span className={styles.detail}>{command.detail}</span>}
                  </Autocomplete.Item>
                )}
              </Autocomplete.Collection>
            </Autocomplete.Group>
          )}
        </Autocomplete.List>
      </Autocomplete.Root>
    </search>
  );
}

function countWords(count: number, more: boolean): string {
  if (count === 0) return 'No results.';
  if (more) return 'There are more results. Type more of the name.';
  return count === 1 ? '1 result' : `${count} results`;
}
