import { useId, useState } from 'react';
import {
  INSTALLS_A_PAGE,
  type SelectedInstall,
  useFirstInstalls,
  useInstallsById,
} from '../api/install-list.ts';
import { TextField } from './fields.tsx';
import formStyles from './form.module.css';
import { useFieldError } from './form.tsx';
import styles from './install-picker.module.css';
import { Loaded } from './loaded.tsx';
import { SEARCH_FAILED, useSearchText } from './search-text.ts';

/** Up to this many installs need no search field. */
const WITHOUT_SEARCH = 8;

interface Picked {
  accountId: string;
  label: string;
  chosen: readonly string[];
  onChange(ids: string[]): void;
}

/** Name of the field in forms and in the server's validation errors. */
const FIELD = 'install_ids';

/** A checkbox list of an account's installs: the form field `install_ids`. The server searches them. */
export function InstallPicker({ accountId, chosen, ...picked }: Picked) {
  const all = useFirstInstalls(accountId, {});
  // Those selected at first need not be on the first page.
  const [atFirst] = useState(chosen);
  const { data: selected, isLoading, isError } = useInstallsById(accountId, atFirst);
  return (
    <Loaded query={all} what="installs">
      {({ total }) => (
        <SearchedList
          accountId={accountId}
          total={total}
          selected={isLoading || isError ? [] : (selected ?? [])}
          chosen={chosen}
          {...picked}
        />
      )}
    </Loaded>
  );
}

type Named = Pick<SelectedInstall, 'id' | 'name'>;

/** Without a search, it begins with the selected installs that are not on the first page. */
function SearchedList({
  accountId,
  total,
  selected,
  label,
  chosen,
  onChange,
}: Picked & { total: number; selected: readonly Named[] }) {
  const id = useId();
  const error = useFieldError(FIELD);
  const { typed, setTyped, asked } = useSearchText();
  // Once unticked, they stay until the form closes.
  const [ticked, setTicked] = useState<readonly Named[]>([]);
  const { data, isLoadingError: hasFailed } = useFirstInstalls(
    accountId,
    asked === '' ? {} : { search: asked },
  );
  const results: readonly Named[] = data?.results ?? [];
  const listed = new Set(results.map((install) => install.id));
  const others = new Map([...selected, ...ticked].map((install) => [install.id, install]));
  const hidden = asked === '' ? [...others.values()].filter((install) => !listed.has(install.id)) : [];

  function tick(install: Named, isTicked: boolean) {
    if (!ticked.some((one) => one.id === install.id)) setTicked([...ticked, install]);
    const rest = chosen.filter((other) => other !== install.id);
    onChange(isTicked ? [...rest, install.id] : rest);
  }

  return (
    <fieldset className={formStyles.group} aria-describedby={error === undefined ? undefined : `${id}-error`}>
      <legend className={formStyles.label}>{label}</legend>
      {error !== undefined && (
        <span id={`${id}-error`} className={formStyles.error}>
          {error}
        </span>
      )}
      {total === 0 && <p className={formStyles.hint}>This account has no installs yet.</p>}
      {total > WITHOUT_SEARCH && (
        <TextField
          type="search"
          label="Search installs"
          name="install-search"
          autoComplete="off"
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
          // Enter would submit the form around the search field.
          onKeyDown={(event) => {
            if (event.key === 'Enter') event.preventDefault();
          }}
        />
      )}
      {hasFailed && (
        <p className={formStyles.error} role="alert">
          {SEARCH_FAILED}
        </p>
      )}
      {total > 0 && (
        <p className={formStyles.hint} aria-live="polite">
          {chosen.length} of {total} selected
          {asked !== '' && data && `, ${data.count} found`}
        </p>
      )}
      {hidden.length + results.length > 0 && (
        <ul className={styles.list}>
          {[...hidden, ...results].map((install) => (
            <li key={install.id} className={formStyles.choice}>
              <input
                type="checkbox"
                name={FIELD}
                aria-invalid={error !== undefined || undefined}
                id={`${id}-${install.id}`}
                checked={chosen.includes(install.id)}
                onChange={({ currentTarget }) => tick(install, currentTarget.checked)}
              />
              <label htmlFor={`${id}-${install.id}`}>{install.name}</label>
            </li>
          ))}
        </ul>
      )}
      {data !== undefined && data.count > INSTALLS_A_PAGE && (
        <p className={formStyles.hint}>Showing the first {INSTALLS_A_PAGE}. Search to find others.</p>
      )}
    </fieldset>
  );
}
