import { useId, useMemo, useState } from 'react';
import { type Install, useInstalls } from '../api/installs.ts';
import { TextField } from './fields.tsx';
import formStyles from './form.module.css';
import { useFieldError } from './form.tsx';
import styles from './install-picker.module.css';
import { Loaded } from './loaded.tsx';
import { sortRows } from './sort-rows.ts';

/** Number of installs shown at once. */
const SHOWN = 100;
/** Up to this many installs need no search field. */
const WITHOUT_SEARCH = 8;

interface Picked {
  label: string;
  chosen: readonly string[];
  onChange(ids: string[]): void;
}

/** Name of the field in forms and in the server's validation errors. */
const FIELD = 'install_ids';

/** A checkbox list of an account's installs: the form field `install_ids`. */
export function InstallPicker({ accountId, ...picked }: Picked & { accountId: string }) {
  const query = useInstalls(accountId);
  return (
    <Loaded query={query} what="installs">
      {(installs) => <SearchedList installs={installs} {...picked} />}
    </Loaded>
  );
}

/** Keeps checked installs checked while a search hides them. */
function SearchedList({ label, installs, chosen, onChange }: Picked & { installs: readonly Install[] }) {
  const id = useId();
  const error = useFieldError(FIELD);
  const [search, setSearch] = useState('');
  const ticked = useMemo(() => new Set(chosen), [chosen]);
  const found = useMemo(
    () =>
      sortRows(
        installs.filter(({ name }) => name.toLowerCase().includes(search.trim().toLowerCase())),
        ({ name }) => name,
        'ascending',
      ),
    [installs, search],
  );

  return (
    <fieldset className={formStyles.group} aria-describedby={error === undefined ? undefined : `${id}-error`}>
      <legend className={formStyles.label}>{label}</legend>
      {error !== undefined && (
        <span id={`${id}-error`} className={formStyles.error}>
          {error}
        </span>
      )}
      {installs.length === 0 && <p className={formStyles.hint}>This account has no installs yet.</p>}
      {installs.length > WITHOUT_SEARCH && (
        <TextField
          type="search"
          label="Search installs"
          name="install-search"
          autoComplete="off"
          value={search}
          onChange={(event) => setSearch(event.currentTarget.value)}
          // Enter would submit the form around the search field.
          onKeyDown={(event) => {
            if (event.key === 'Enter') event.preventDefault();
          }}
        />
      )}
      {installs.length > 0 && (
        <p className={formStyles.hint} aria-live="polite">
          {chosen.length} of {installs.length} selected
          {search.trim() !== '' && `, ${found.length} found`}
        </p>
      )}
      {found.length > 0 && (
        <ul className={styles.list}>
          {found.slice(0, SHOWN).map((install) => (
            <li key={install.id} className={formStyles.choice}>
              <input
                type="checkbox"
                name={FIELD}
                aria-invalid={error !== undefined || undefined}
                id={`${id}-${install.id}`}
                checked={ticked.has(install.id)}
                onChange={({ currentTarget }) =>
                  onChange(
                    currentTarget.checked
                      ? [...chosen, install.id]
                      : chosen.filter((other) => other !== install.id),
                  )
                }
              />
              <label htmlFor={`${id}-${install.id}`}>{install.name}</label>
            </li>
          ))}
        </ul>
      )}
      {found.length > SHOWN && (
        <p className={formStyles.hint}>Showing the first {SHOWN}. Search to find others.</p>
      )}
    </fieldset>
  );
}
