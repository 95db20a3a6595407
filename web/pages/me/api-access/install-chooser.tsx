import { useState } from 'react';
import { CheckboxField, TextField } from '../../../components/fields.tsx';
import { useFault } from '../../../components/form.tsx';
import { Loaded } from '../../../components/loaded.tsx';
import { useInstalls } from '../queries.ts';
import styles from './api-access.module.css';

/** More at once would be slow to draw, and nobody looks them through. */
const MOST_SHOWN = 100;

/** Some of the installs of an account, to be searched and ticked. */
export function InstallChooser({
  accountId,
  chosen,
  onChange,
}: {
  accountId: string;
  chosen: ReadonlySet<string>;
  onChange(chosen: ReadonlySet<string>): void;
}) {
  const installs = useInstalls(accountId);
  const [search, setSearch] = useState('');
  const fault = useFault('install_ids');

  function tick(id: string, ticked: boolean) {
    const next = new Set(chosen);
    if (ticked) next.add(id);
    else next.delete(id);
    onChange(next);
  }

  return (
    <fieldset className={styles.chooser}>
      <legend>Installs</legend>
      <TextField
        label="Search the installs"
        name="install_search"
        type="search"
        value={search}
        onChange={(event) => setSearch(event.currentTarget.value)}
      />
      <Loaded query={installs} what="installs">
        {(all) => {
          const found = all.filter(({ name }) => name.includes(search.trim().toLowerCase()));
          return (
            <>
              <ul className={styles.installs} aria-label="Installs found">
                {found.slice(0, MOST_SHOWN).map(({ id, name, environment }) => (
                  <li key={id}>
                    <CheckboxField
                      label={environment === null ? name : `${name} (${environment})`}
                      name={`install_${id}`}
                      checked={chosen.has(id)}
                      onChange={(event) => tick(id, event.currentTarget.checked)}
                    />
                  </li>
                ))}
                {found.length === 0 && <li className={styles.soft}>No install has a name like this.</li>}
              </ul>
              <p className={styles.soft} role="status">
                {chosen.size} chosen.{' '}
                {found.length > MOST_SHOWN && `${found.length - MOST_SHOWN} more: search for them.`}
              </p>
            </>
          );
        }}
      </Loaded>
      {fault !== undefined && <p role="alert">{fault}</p>}
    </fieldset>
  );
}
