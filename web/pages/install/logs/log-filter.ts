import type { Install } from '../../../api/installs.ts';
import type { LogKind, LogQuery } from '../../../api/logs.ts';

/** The log and its filters, as the address has them. An empty text matches everything. Times are local: `2026-01-31T09:30`. */
export interface LogFilter {
  kind: LogKind;
  from: string;
  to: string;
  search: string;
  /** For requests only. */
  status: string;
}

export const KIND_LABELS: Record<LogKind, string> = {
  access: 'Requests',
  php: 'PHP errors',
  cron: 'Scheduled tasks',
  mail: 'Mail',
};

export const STATUS_LABELS: Record<string, string> = {
  '2xx': '2xx: successful',
  '3xx': '3xx: redirects',
  '4xx': '4xx: refused',
  '5xx': '5xx: errors of the website',
};

const LONGEST_SEARCH = 200;

const KINDS: readonly LogKind[] = ['access', 'php', 'cron', 'mail'];

/** The logs that can have entries: a website of files has no PHP, which causes all but requests. */
export const kindsOf = ({ php_version }: Pick<Install, 'php_version'>): readonly LogKind[] =>
  php_version === null ? ['access'] : KINDS;

/** Parses the filters in the query string. Invalid values are ignored. */
export function logFilterOf(get: (name: string) => string, kinds: readonly LogKind[] = KINDS): LogFilter {
  const kind = get('kind');
  const time = (name: string) => (timeOf(get(name)) === null ? '' : get(name));
  return {
    kind: kinds.find((known) => known === kind) ?? 'access',
    from: time('from'),
    to: time('to'),
    search: get('search').slice(0, LONGEST_SEARCH),
    status: Object.hasOwn(STATUS_LABELS, get('status')) ? get('status') : '',
  };
}

/** Returns the errors of the filters by field. */
export function filterErrors({ from, to }: LogFilter): Record<string, string> {
  return from !== '' && to !== '' && to <= from ? { to: 'This time is not after From.' } : {};
}

/** Converts the filters to query parameters of the server. */
export function queryOf({ kind, from, to, search, status }: LogFilter): LogQuery {
  const first = timeOf(from);
  const last = timeOf(to);
  return {
    ...(first === null ? {} : { from: first }),
    ...(last === null ? {} : { to: last }),
    ...(search === '' ? {} : { search }),
    ...(kind === 'access' && status !== '' ? { status } : {}),
  };
}

/** The time in UTC; null if the text is not a local time. */
function timeOf(text: string): string | null {
  if (!/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}$/.test(text)) return null;
  const at = new Date(text);
  // Some engines parse 31 February as a day in March.
  return at.getDate() === Number(text.slice(8, 10)) ? at.toISOString() : null;
}
