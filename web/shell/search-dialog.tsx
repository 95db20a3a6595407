import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { type SearchResult, searchFor } from '../api/search.ts';
import { useDebounced } from '../components/debounced.ts';
import { Dialog } from '../components/dialog.tsx';
import { displayName } from '../components/display-name.ts';
import { environmentLabel, environmentOf } from '../components/environments.ts';
import { TextField } from '../components/fields.tsx';
import { LoadFailure } from '../components/notice.tsx';
import { showFailure } from '../components/toast.tsx';
import { useSession } from '../session/session.ts';
import styles from './search-dialog.module.css';

interface SearchProps {
  open: boolean;
  onOpenChange(open: boolean): void;
}

/** Finds sites, installs and domains in all accounts of the user by a part of their name. */
export function SearchDialog({ open, onOpenChange }: SearchProps) {
  const [, navigate] = useLocation();
  const go = (thing: SearchResult) => {
    navigate(pathOf(thing));
    onOpenChange(false);
  };
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title="Search"
      description="Search sites, installs and domains in all your accounts. Press Enter to open the first result, and Ctrl K to search from any page."
    >
      <SearchForm onChosen={go} />
    </Dialog>
  );
}

const normal = (typed: string) => typed.trim().toLowerCase();

function SearchForm({ onChosen }: { onChosen(thing: SearchResult): void }) {
  const queries = useQueryClient();
  const [typed, setTyped] = useState('');
  const query = useQuery(searchFor(useDebounced(normal(typed))));

  /** Fast typists press Enter before the response has arrived. */
  async function goToFirst() {
    if (normal(typed) === '') return;
    try {
      const { results } = await queries.fetchQuery(searchFor(normal(typed)));
      const [first] = results;
      if (first) onChosen(first);
    } catch (error) {
      showFailure(error);
    }
  }

  const found = normal(typed) === '' ? undefined : query.data;
  return (
    <search>
      <form
        className={styles.finder}
        onSubmit={(event) => {
          event.preventDefault();
          void goToFirst();
        }}
      >
        <TextField
          type="search"
          label="Name or domain"
          name="find"
          maxLength={200}
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
        {query.error && <LoadFailure error={query.error} onRetry={() => void query.refetch()} />}
        <p className={styles.count} aria-live="polite">
          {found && countWords(found.results.length, found.more)}
        </p>
        {found && found.results.length > 0 && (
          <ul className={styles.list} aria-label="Results">
            {found.results.map((thing) => (
              <li key={`${thing.kind} ${thing.id} ${thing.name}`}>
                <ResultLink thing={thing} onChosen={onChosen} />
              </li>
            ))}
          </ul>
        )}
      </form>
    </search>
  );
}

function ResultLink({ thing, onChosen }: { thing: SearchResult; onChosen(thing: SearchResult): void }) {
  const isOneOfSeveral = useSession().accounts.length > 1;
  return (
    <Link
      href={pathOf(thing)}
      className={styles.found}
      onClick={(event) => {
        // The browser opens a new window, and this one stays as it is.
        if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
        event.preventDefault();
        onChosen(thing);
      }}
    >
      <strong>{thing.kind === 'domain' ? displayName(thing.name) : thing.name}</strong>
      <span className={styles.soft}>
        {describe(thing)}
        {isOneOfSeveral && `, ${thing.account.name}`}
      </span>
    </Link>
  );
}

function pathOf({ kind, id, name }: SearchResult): string {
  if (kind === 'site') return `/sites/${id}`;
  return kind === 'install'
    ? `/installs/${id}`
    : `/installs/${id}/domains?search=${encodeURIComponent(name)}`;
}

/** Describes a result by its kind and place. */
function describe({ kind, install, site, environment }: SearchResult): string {
  if (kind === 'site') return 'Site';
  const place =
    site === null ? 'no site' : `${environmentLabel(environmentOf(environment ?? ''))} of ${site}`;
  return kind === 'install' ? `Install, ${place}` : `Domain of ${install}, ${place}`;
}

function countWords(count: number, more: boolean): string {
  if (count === 0) return 'No results.';
  if (more) return 'There are more results. Type more of the name.';
  return count === 1 ? '1 result' : `${count} results`;
}
