import { useId, useMemo, useState } from 'react';
import { type Install, useInstalls } from '../api/installs.ts';
import { TextField } from './fields.tsx';
import formStyles from './form.module.css';
import { useFieldError } from './form.tsx';
import styles from './install-picker.module.css';
import { Loaded } from './loaded.tsx';
import { sortRows } from './sort-rows.ts';

/** More are not shown at once: whoever has more searches. */
const SHOWN = 100;
/** So few are seen at a glance. */
const WITHOUT_SEARCH = 8;

interface Picked {
  label: string;
  chosen: readonly string[];
  onChange(ids: string[]): void;
}

/** The field's name in forms and answers. */
const FIELD = 'install_ids';

/** Some of an account's installs, as far as the person sees them, ticked in a list; the field of a form named `install_ids`. */
export function InstallPicker({ accountId, ...picked }: Picked & { accountId: string }) {
  const query = useInstalls(accountId);
  return (
    <Loaded query={query} what="installs">
      {(installs) => <SearchedList installs={installs} {...picked} />}
    </Loaded>
  );
}

/** What is ticked stays so while it is not shown. */
function SearchedList({ label, installs, chosen, onChange }: Picked & { installs: readonly Install[] }) {
  const id = useId();
  const fault = useFieldError(FIELD);
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
    <fieldset className={formStyles.group} aria-describedby={fault === undefined ? undefined : `${id}-fault`}>
      <legend className={formStyles.label}>{label}</legend>
      {fault !== undefined && (
        <span id={`${id}-fault`} className={formStyles.fault}>
          {fault}
        </span>
      )}
      {installs.length === 0 && <p className={formStyles.hint}>There are no installs to choose from yet.</p>}
      {installs.length > WITHOUT_SEARCH && (
        <TextField
          type="search"
          label="Search installs"
          name="install-search"
          autoComplete="off"
          value={search}
          onChange={(event) => setSearch(event.currentTarget.value)}
          // It stands in a form, which Enter would send.
          onKeyDown={(event) => {
            if (event.key === 'Enter') event.preventDefault();
          }}
        />
      )}
      {installs.length > 0 && (
        <p className={formStyles.hint} aria-live="polite">
          {chosen.length} of {installs.length} chosen
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
                aria-invalid={fault !== undefined || undefined}
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
        <p className={formStyles.hint}>The first {SHOWN} are shown. Search to find the others.</p>
      )}
    </fieldset>
  );
}
