import { PAGE_SECONDS } from '../contract/website-rules.ts';
import { ANSWERED_VARY } from './page-request-headers.ts';

/** The parts of an answer that decide whether the page cache keeps it. Header values as sent, several lines joined by `, `. */
export interface PageAnswer {
  status: number;
  cacheControl?: string | undefined;
  /** Milliseconds; null for a date that cannot be read. */
  expiresAt?: number | null | undefined;
  xAccelExpires?: string | undefined;
  xAccelBuffering?: string | undefined;
  vary?: string | undefined;
  setsCookie?: boolean | undefined;
  contentType?: string | undefined;
  contentLength?: string | undefined;
  contentEncoding?: string | undefined;
}

export interface Keeping {
  /** Seconds during which the page is served without asking PHP. */
  fresh: number;
  /** Seconds after that during which visitors get the page while PHP makes it again. */
  stale: number;
  /** Whether a later failure of PHP may show the page again. */
  onError: boolean;
}

/** For redirects and missing pages, which a publication may replace at any time. */
const BRIEF = 10;

const PAGES = [200, 203];
const BRIEF_STATUSES = [301, 302, 307, 308, 404, 410];

/** Patterns take quadratic time for a longer header, and an install must not hold up the others. */
const LONGEST_HEADER = 1000;
/** Answers with more digits in their length are too large. */
const MOST_DIGITS = 7;
/** Types that are kept without a length; downloads are not. */
const PAGE_TYPE =
  /^(?:text\/(?!event-stream)|image\/|font\/|application\/(?:[a-z0-9.+-]*(?:json|xml)|(?:x-)?javascript)(?:[ ;]|$))/i;

/**
 * Decides whether and how long an answer is kept; null if it is not. A page is at most `seconds` old: fresh for two thirds of them,
 * then shown while it is made again, up to the second in which nginx's clock ticks.
 */
export function keepingOf(
  answer: PageAnswer,
  now: number,
  seconds: number = PAGE_SECONDS.usual,
): Keeping | null {
  const isBrief = BRIEF_STATUSES.includes(answer.status);
  if (!isBrief && !PAGES.includes(answer.status)) return null;
  const updating = Math.floor(seconds / 3);
  const most = isBrief ? Math.min(BRIEF, seconds - updating) : seconds - updating;
  if ([answer.cacheControl, answer.vary].some((header = '') => header.length > LONGEST_HEADER)) return null;
  if (!isShared(answer) || !isSmall(answer)) return null;
  const directives = directivesOf(answer.cacheControl);
  const fresh = Math.min(most, statedSeconds(answer, directives, now) ?? most);
  if (fresh < 1) return null;
  if (isBrief || directives.has('must-revalidate') || directives.has('proxy-revalidate')) {
    return { fresh, stale: 0, onError: false };
  }
  const longest = updating - 1;
  const stale = Math.min(longest, secondsIn(directives.get('stale-while-revalidate')) ?? longest);
  return { fresh, stale, onError: true };
}

/** The value of `Vary` without `Accept-Encoding`, which the cache itself answers; empty if nothing is left. */
export function varyWithoutEncoding(vary: string): string {
  return listed(vary)
    .filter((name) => name.toLowerCase() !== 'accept-encoding')
    .join(', ');
}

function isShared({ setsCookie, vary = '', contentEncoding, xAccelBuffering }: PageAnswer): boolean {
  // A customer's compressed answer could grow without bounds when nginx decompresses it for a visitor.
  if (setsCookie === true || (contentEncoding !== undefined && contentEncoding !== '')) return false;
  if (xAccelBuffering?.toLowerCase() === 'no') return false;
  return listed(vary).every((name) => ANSWERED_VARY.has(name.toLowerCase()));
}

function isSmall({ contentLength, contentType = '' }: PageAnswer): boolean {
  if (contentLength === undefined) return PAGE_TYPE.test(contentType);
  return contentLength.length <= MOST_DIGITS && /^\d+$/.test(contentLength);
}

/**
 * How long the page itself says that it may be kept; undefined if it says nothing. `X-Accel-Expires` is meant for nginx alone, so it
 * counts more than the headers for browsers.
 */
function statedSeconds(
  { xAccelExpires, expiresAt }: PageAnswer,
  directives: Map<string, string>,
  now: number,
): number | undefined {
  const accelerated = accelSeconds(xAccelExpires, now);
  if (accelerated !== undefined) return accelerated;
  if (['no-cache', 'no-store', 'private'].some((name) => directives.has(name))) return 0;
  const age = secondsIn(directives.get('s-maxage')) ?? secondsIn(directives.get('max-age'));
  if (age !== undefined) return age;
  if (expiresAt === undefined) return undefined;
  return expiresAt === null ? 0 : Math.floor((expiresAt - now) / 1000);
}

function accelSeconds(value: string | undefined, now: number): number | undefined {
  const [, at, digits] = /^(@?)(\d{1,15})$/.exec(value ?? '') ?? [];
  if (digits === undefined) return undefined;
  return at === '@' ? Number(digits) - Math.floor(now / 1000) : Number(digits);
}

/** Directives of `Cache-Control` by name in lower case. The first of equal names counts. */
function directivesOf(cacheControl = ''): Map<string, string> {
  const directives = new Map<string, string>();
  for (const part of listed(cacheControl)) {
    const [name = '', value = ''] = part.toLowerCase().split(/\s*=\s*/, 2);
    if (!directives.has(name)) directives.set(name, value);
  }
  return directives;
}

function secondsIn(value: string | undefined): number | undefined {
  const [, digits] = /^"?(\d{1,15})"?$/.exec(value ?? '') ?? [];
  return digits === undefined ? undefined : Number(digits);
}

function listed(value: string): string[] {
  return value
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}
