/**
 * Headers that ask for another answer than a visitor's page, or bring rights. A request with one of them never uses the page cache.
 * No other header of a visitor reaches PHP when it makes a page for the cache, so none can shape what others see.
 */
export const PASSING_HEADERS = [
  'Authorization',
  'HX-Request',
  // Where a stream of events goes on (`EventSource`).
  'Last-Event-ID',
  'Origin',
  'Turbo-Frame',
  'X-Api-Key',
  'X-Auth-Token',
  'X-Inertia',
  'X-Pjax',
  'X-WP-Nonce',
];

/** Passes with this value only: web views of applications send their names on each request. */
export const PASSING_REQUESTED_WITH = 'XMLHttpRequest';

/** Passes if it matches this, as for the REST API, ActivityPub and streams of events. */
export const PASSING_ACCEPT = 'json|event-stream';

/** `User-Agent` for PHP in place of the visitor's. Some plugins refuse requests without a `User-Agent`. */
export const PAGE_USER_AGENT = 'Mozilla/5.0 (compatible; Homeport)';
export const PAGE_ACCEPT = 'text/html,*/*;q=0.8';

/**
 * Names in `Vary` that do not keep an answer out of the cache, in lower case: such requests pass, or the value is the same for
 * every page that is made for it. Visitors with a personal cookie pass, so a page that varies by cookies is the one without.
 */
export const ANSWERED_VARY: ReadonlySet<string> = new Set([
  ...PASSING_HEADERS.map((name) => name.toLowerCase()),
  'accept',
  'accept-encoding',
  'cookie',
  'x-forwarded-proto',
  'x-requested-with',
]);

/**
 * A client sends this directive to get a page only if the cache can answer (RFC 9111 section 5.2.1.7). The edge answers 504 in place of
 * asking PHP, except for a page that PHP last failed to make. The check whether websites answer sends it each minute. Lua has its own copy.
 */
const ONLY_CACHED = /(^|,)\s*only-if-cached\s*(,|$)/i;
export const NOT_CACHED_STATUS = 504;

export function wantsOnlyCached(cacheControl: string | undefined): boolean {
  return cacheControl !== undefined && ONLY_CACHED.test(cacheControl);
}
