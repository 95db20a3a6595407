import type { ActivityQuery } from '../../api/activity.ts';

/** Filters of the activity page. An empty text matches everything. Days are in the user's time zone, `2026-01-31`. */
export interface ActivityFilter {
  person: string;
  install: string;
  kind: string;
  from: string;
  to: string;
}

export const NO_FILTER: ActivityFilter = { person: '', install: '', kind: '', from: '', to: '' };

type Kind = NonNullable<ActivityQuery['kind']>;

/** Labels of the kinds of changes. */
export const KIND_LABELS: Record<Kind, string> = {
  account: 'Account',
  account_user: 'People',
  site: 'Sites',
  tag: 'Tags',
  site_transfer: 'Site transfers',
  install: 'Installs',
  domain: 'Domains',
  certificate: 'Certificates',
  backup: 'Backups',
  cache: 'Caches',
  offload: 'File offload',
  protection: 'Protection',
  redirect: 'Redirects',
  operation: 'Operations',
  ssh_key: 'SSH keys',
  credential: 'API credentials',
  session: 'Signing in and out',
  password: 'Passwords',
  second_factor: 'Second factor',
  passkey: 'Passkeys',
  profile: 'Profiles',
  webhook: 'Webhooks',
};

const isKind = (text: string): text is Kind => Object.hasOwn(KIND_LABELS, text);
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Parses the filters in the query string. Invalid values are ignored. */
export function activityFilterOf(get: (name: string) => string): ActivityFilter {
  const valid = (name: string, isValid: (text: string) => boolean) => (isValid(get(name)) ? get(name) : '');
  const isId = (text: string) => UUID.test(text);
  const isDay = (text: string) => startOfDay(text, 0) !== null;
  return {
    person: valid('person', isId),
    install: valid('install', isId),
    kind: valid('kind', isKind),
    from: valid('from', isDay),
    to: valid('to', isDay),
  };
}

/** Returns the errors of the filters by field. */
export function filterErrors({ from, to }: ActivityFilter): Record<string, string> {
  return from !== '' && to !== '' && to < from ? { to: 'This day is before From.' } : {};
}

/** Converts the filters to query parameters of the server. */
export function queryOf({ person, install, kind, from, to }: ActivityFilter): ActivityQuery {
  const since = startOfDay(from, 0);
  const until = startOfDay(to, 1);
  return {
    ...(person === '' ? {} : { user_id: person }),
    ...(install === '' ? {} : { install_id: install }),
    ...(isKind(kind) ? { kind } : {}),
    ...(since === null ? {} : { since }),
    ...(until === null ? {} : { until }),
  };
}

/** Returns the start of a day in the user's time zone, plus some days; null if it is not a valid day. */
function startOfDay(day: string, daysLater: number): string | null {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(day)) return null;
  const at = new Date(`${day}T00:00`);
  // Some engines parse 31 February as a day in March.
  if (at.getDate() !== Number(day.slice(-2))) return null;
  at.setDate(at.getDate() + daysLater);
  const year = at.getUTCFullYear();
  return year >= 1 && year <= 9999 ? at.toISOString() : null;
}
