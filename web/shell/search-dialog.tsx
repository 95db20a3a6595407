import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { type FoundThing, searchFor } from '../api/search.ts';
import { useDebounced } from '../components/debounced.ts';
import { Dialog } from '../components/dialog.tsx';
import { displayName } from '../components/display-name.ts';
import { environmentLabel, environmentOf } from '../components/environments.ts';
import { TextField } from '../components/fields.tsx';
import { LoadFailure } from '../components/notice.tsx';
import { showFailure } from '../components/toast.tsx';
import { useSession } from '../session/session.ts';
import styles from './search-dialog.module.css';

interface FindProps {
  open: boolean;
  onOpenChange(open: boolean): void;
}

/** Leads to a site, an install or a domain, in whichever account it is, by a part of its name. */
export function SearchDialog({ open, onOpenChange }: FindProps) {
  const [, navigate] = useLocation();
  const go = (thing: FoundThing) => {
    navigate(placeOf(thing));
    onOpenChange(false);
  };
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title="Find"
      description="Sites, installs and domains of all your accounts. Enter leads to the first that is found; Ctrl K opens this anywhere."
    >
      <Finder onChosen={go} />
    </Dialog>
  );
}

const normal = (typed: string) => typed.trim().toLowerCase();

function Finder({ onChosen }: { onChosen(thing: FoundThing): void }) {
  const queries = useQueryClient();
  const [typed, setTyped] = useState('');
  const query = useQuery(searchFor(useDebounced(normal(typed))));

  /** Whoever types fast presses Enter before the answer is there. */
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
          label="Name or domain, or a part of it"
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
          <ul className={styles.list} aria-label="Found">
            {found.results.map((thing) => (
              <li key={`${thing.kind} ${thing.id} ${thing.name}`}>
                <FoundLink thing={thing} onChosen={onChosen} />
              </li>
            ))}
          </ul>
        )}
      </form>
    </search>
  );
}

function FoundLink({ thing, onChosen }: { thing: FoundThing; onChosen(thing: FoundThing): void }) {
  const isOneOfSeveral = useSession().accounts.length > 1;
  return (
    <Link
      href={placeOf(thing)}
      className={styles.found}
      onClick={(event) => {
        // A new window is the browser's own affair, and this one stays as it is.
        if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
        event.preventDefault();
        onChosen(thing);
      }}
    >
      <strong>{thing.kind === 'domain' ? displayName(thing.name) : thing.name}</strong>
      <span className={styles.soft}>
        {whatOf(thing)}
        {isOneOfSeveral && `, ${thing.account.name}`}
      </span>
    </Link>
  );
}

function placeOf({ kind, id, name }: FoundThing): string {
  if (kind === 'site') return `/sites/${id}`;
  return kind === 'install'
    ? `/installs/${id}`
    : `/installs/${id}/domains?search=${encodeURIComponent(name)}`;
}

/** What it is, and where. */
function whatOf({ kind, install, site, environment }: FoundThing): string {
  if (kind === 'site') return 'Site';
  const place =
    site === null ? 'in no site' : `${environmentLabel(environmentOf(environment ?? ''))} of ${site}`;
  return kind === 'install' ? `Install, ${place}` : `Domain of ${install}, ${place}`;
}

function countWords(count: number, more: boolean): string {
  if (count === 0) return 'Nothing is called so.';
  if (more) return 'These and more: type more of the name.';
  return count === 1 ? 'One is found.' : `${count} are found.`;
}
