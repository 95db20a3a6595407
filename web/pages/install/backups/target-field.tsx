import { useId, useState } from 'react';
import { FormError } from '../../../api/failure.ts';
import { type Install, useInstalls } from '../../../api/installs.ts';
import { useSites } from '../../../api/sites.ts';
import { environmentLabel } from '../../../components/environments.ts';
import { TextField } from '../../../components/fields.tsx';
import formStyles from '../../../components/form.module.css';
import { useFieldError } from '../../../components/form.tsx';
import pickerStyles from '../../../components/install-picker.module.css';
import { Loaded } from '../../../components/loaded.tsx';
import { Tag } from '../../../components/notice.tsx';
import { Empty } from '../../../components/page.tsx';
import { sortRows } from '../../../components/sort-rows.ts';
import styles from './backups.module.css';

/** Name of the field in forms and in the server's validation errors. */
const TARGET_FIELD = 'into_install_id';
/** Up to this many installs need no search field. */
const WITHOUT_SEARCH = 8;
/** Number of installs shown at once. */
const SHOWN = 50;

/** The error of a form without a chosen target. */
export function targetMissing(): FormError {
  const message = 'Choose the install to replace.';
  return new FormError(message, [{ field: TARGET_FIELD, message }]);
}

interface TargetFieldProps {
  label: string;
  /** The install that is copied; it is not offered. */
  source: Install;
  /** The chosen install; null at first, so that nobody replaces an install by accident. */
  chosen: Install | null;
  onChange(target: Install): void;
}

/** A searchable list of the other installs of the account: those of the same site first, production marked. */
export function TargetField({ source, ...field }: TargetFieldProps) {
  const query = useInstalls(source.account.id);
  return (
    <Loaded query={query} what="installs">
      {(installs) => {
        const targets = installs.filter(({ id, status }) => status === 'active' && id !== source.id);
        return targets.length === 0 ? (
          <Empty>This account has no other active installs.</Empty>
        ) : (
          <Targets source={source} targets={targets} {...field} />
        );
      }}
    </Loaded>
  );
}

function Targets({
  label,
  source,
  targets,
  chosen,
  onChange,
}: TargetFieldProps & { targets: readonly Install[] }) {
  const id = useId();
  const error = useFieldError(TARGET_FIELD);
  const [search, setSearch] = useState('');
  const placeOf = usePlaces(source.account.id);
  const wanted = search.trim().toLowerCase();
  const rankOf = ({ site }: Install) => (site !== null && site.id === source.site?.id ? 0 : 1);
  const byName = sortRows(targets, ({ name }) => name, 'ascending');
  const found = sortRows(byName, rankOf, 'ascending').filter((target) =>
    `${target.name} ${placeOf(target)}`.toLowerCase().includes(wanted),
  );
  // The chosen install stays in sight while a search hides it.
  const hidden = chosen !== null && !found.slice(0, SHOWN).some((target) => target.id === chosen.id);
  const shown = [...(hidden ? [chosen] : []), ...found.slice(0, SHOWN)];
  return (
    <fieldset className={formStyles.group} aria-describedby={error === undefined ? undefined : `${id}-error`}>
      <legend className={formStyles.label}>{label}</legend>
      {targets.length > WITHOUT_SEARCH && (
        <TextField
          type="search"
          label="Search installs"
          name="target-search"
          autoComplete="off"
          value={search}
          hint={
            <span aria-live="polite">
              {found.length} of {targets.length} installs
              {found.length > SHOWN && `, the first ${SHOWN} are shown`}
            </span>
          }
          onChange={(event) => setSearch(event.currentTarget.value)}
          // Enter would submit the form around the search field.
          onKeyDown={(event) => {
            if (event.key === 'Enter') event.preventDefault();
          }}
        />
      )}
      {shown.length > 0 && (
        <ul className={pickerStyles.list}>
          {shown.map((target) => (
            <li key={target.id} className={formStyles.choice}>
              <input
                type="radio"
                name={TARGET_FIELD}
                id={`${id}-${target.id}`}
                value={target.id}
                checked={target.id === chosen?.id}
                aria-invalid={error !== undefined || undefined}
                onChange={() => onChange(target)}
              />
              <label htmlFor={`${id}-${target.id}`} className={styles.target}>
                <span className={styles.head}>
                  {target.name}
                  {target.environment === 'production' && <Tag tone="bad">Production</Tag>}
                </span>
                <span className={formStyles.hint}>{placeOf(target)}</span>
              </label>
            </li>
          ))}
        </ul>
      )}
      {/* Below the list, which gets the focus and is scrolled into view. */}
      {error !== undefined && (
        <span id={`${id}-error`} className={formStyles.error}>
          {error}
        </span>
      )}
    </fieldset>
  );
}

/** Returns a function that names environment and site, because users with many installs do not know every name. */
function usePlaces(accountId: string) {
  const sites = useSites(accountId).data;
  return ({ site, environment }: Install) => {
    const siteName = sites?.find(({ id }) => id === site?.id)?.name;
    return siteName === undefined
      ? environmentLabel(environment)
      : `${environmentLabel(environment)} of ${siteName}`;
  };
}
