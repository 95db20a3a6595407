import { useId } from 'react';
import { FormError } from '../../../api/failure.ts';
import { type ListedInstall, useEnvironmentsOfSite, useFirstInstalls } from '../../../api/install-list.ts';
import type { Install } from '../../../api/installs.ts';
import { displayName } from '../../../components/display-name.ts';
import { environmentLabel } from '../../../components/environments.ts';
import { TextField } from '../../../components/fields.tsx';
import formStyles from '../../../components/form.module.css';
import { useFieldError } from '../../../components/form.tsx';
import pickerStyles from '../../../components/install-picker.module.css';
import { Loaded } from '../../../components/loaded.tsx';
import { Tag } from '../../../components/notice.tsx';
import { Empty } from '../../../components/page.tsx';
import { SEARCH_FAILED, useSearchText } from '../../../components/search-text.ts';
import styles from './backups.module.css';

/** Name of the field in forms and in the server's validation errors. */
const TARGET_FIELD = 'into_install_id';
/** Up to this many installs need no search field. */
const WITHOUT_SEARCH = 8;

/** The error of a form without a chosen target. */
export function targetMissing(): FormError {
  const message = 'Choose the install to replace.';
  return new FormError(message, [{ field: TARGET_FIELD, message }]);
}

interface TargetFieldProps {
  label: string;
  /** The install that is copied; it is not offered. */
  source: Install;
  /** The chosen install; null at first, so that no user replaces an install by accident. */
  chosen: ListedInstall | null;
  onChange(target: ListedInstall): void;
}

type FirstInstalls = NonNullable<ReturnType<typeof useFirstInstalls>['data']>;

const ACTIVE = { status: 'active' } as const;

/** A list of the other installs of the account, searched by the server: those of the same site first, production marked. */
export function TargetField({ source, ...field }: TargetFieldProps) {
  const query = useFirstInstalls(source.account.id, ACTIVE);
  return (
    <Loaded query={query} what="installs">
      {({ count }) =>
        // The source is one of them, unless it is not active.
        count <= (source.status === 'active' ? 1 : 0) ? (
          <Empty>This account has no other active installs.</Empty>
        ) : (
          <Targets source={source} isLong={count > WITHOUT_SEARCH} {...field} />
        )
      }
    </Loaded>
  );
}

function Targets({ label, source, isLong, chosen, onChange }: TargetFieldProps & { isLong: boolean }) {
  const id = useId();
  const error = useFieldError(TARGET_FIELD);
  const { typed, setTyped, asked } = useSearchText();
  const { data, isLoadingError: hasFailed } = useFirstInstalls(source.account.id, {
    ...ACTIVE,
    ...(asked === '' ? {} : { search: asked }),
  });
  const { data: inSite = [] } = useEnvironmentsOfSite(source.account.id, source.site?.id);
  const matches = (target: ListedInstall) =>
    `${target.name} ${placeOf(target)}`.toLowerCase().includes(asked);
  const siblings = inSite.filter((target) => target.status === 'active' && matches(target));
  const found = [...siblings, ...(data?.results ?? [])].filter((target) => target.id !== source.id);
  // The chosen install stays in sight while a search hides it.
  const isHidden = chosen !== null && !found.some((target) => target.id === chosen.id);
  const shown = new Map([...(isHidden ? [chosen] : []), ...found].map((target) => [target.id, target]));
  return (
    <fieldset className={formStyles.group} aria-describedby={error === undefined ? undefined : `${id}-error`}>
      <legend className={formStyles.label}>{label}</legend>
      {isLong && (
        <TextField
          type="search"
          label="Search installs"
          name="target-search"
          autoComplete="off"
          value={typed}
          hint={
            <span aria-live="polite">
              {hasFailed ? SEARCH_FAILED : foundSentence(data, found.length, asked)}
            </span>
          }
          onChange={(event) => setTyped(event.currentTarget.value)}
          // Enter would submit the form around the search field.
          onKeyDown={(event) => {
            if (event.key === 'Enter') event.preventDefault();
          }}
        />
      )}
      {shown.size > 0 && (
        <ul className={pickerStyles.list}>
          {[...shown.values()].map((target) => (
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

/** Says whether the list shows all installs that match. */
function foundSentence(page: FirstInstalls | undefined, found: number, asked: string): string {
  if (page !== undefined && page.count > page.results.length) {
    return `The first ${page.results.length} installs. Type a name or a domain to find others.`;
  }
  if (found === 0) return 'No other install matches.';
  return asked === '' ? 'All installs of the account.' : 'All installs that match.';
}

/** Names environment, site and the domain that was found, because users with many installs do not know every name. */
function placeOf({ site_name: site, environment, matched_domain: domain }: ListedInstall): string {
  const place = site === null ? environmentLabel(environment) : `${environmentLabel(environment)} of ${site}`;
  return domain === null ? place : `${place}, also ${displayName(domain)}`;
}
