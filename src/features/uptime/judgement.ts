import { INSTALLATION, SHOWN_ERROR } from '../../hosting/websites/probe/visited-page.ts';
import { failureSentence } from '../../hosting/wordpress/failure-sentence.ts';
import type { EdgeAnswer, EdgeOutcome } from '../../network/probe/ask-edge.ts';
import { printable, quotable } from '../../network/probe/untrusted-text.ts';

/** Why a website counts as down. Stored: renaming one orphans incidents. */
export const INCIDENT_CAUSES = [
  'status',
  'timeout',
  'connection',
  'certificate',
  'redirects',
  'wordpress',
  'php',
  'host',
] as const;
export type IncidentCause = (typeof INCIDENT_CAUSES)[number];

/** The fault of a website, with one sentence for its owner. */
export interface Fault {
  cause: IncidentCause;
  message: string;
}

/** A 503 with a `Retry-After` of at least so many seconds is maintenance. A shorter time says that the website is busy. */
const MAINTENANCE_SECONDS = 60;

/** WordPress answers with these texts, in English, if it cannot show a page. They are in the title, or begin a paragraph or a heading. */
const CRITICAL = /<p>There has been a critical error on (this|your) website\./i;
const NO_DATABASE = /<(h1|title)>(Error establishing a database connection|Database Error)</i;

/** The fault of a request without a usable answer. */
export function faultWithoutAnswer({ problem }: Exclude<EdgeOutcome, EdgeAnswer>, limitMs: number): Fault {
  switch (problem) {
    case 'timeout':
      return { cause: 'timeout', message: `The home page did not answer within ${limitMs / 1_000} seconds.` };
    case 'tls':
      return { cause: 'certificate', message: 'No encrypted connection (TLS) could be made.' };
    case 'not_http':
      return { cause: 'connection', message: 'The answer is not HTTP.' };
    case 'refused':
    case 'unreachable':
      return { cause: 'connection', message: 'The web server refuses connections.' };
    case 'reset':
      return { cause: 'connection', message: 'The web server closed the connection without an answer.' };
  }
}

/**
 * The fault of a page; null if the website works. A page that is protected or limited (401, 403, 429) is the website's own answer, and so
 * is maintenance: 503 with a `Retry-After` of a minute or more. Otherwise the rules are those of the probe of hosts.
 */
export function faultOf(answer: EdgeAnswer, now: Date): Fault | null {
  const { status, body, certificateEndsAt } = answer;
  if (certificateEndsAt !== null && certificateEndsAt <= now) {
    return {
      cause: 'certificate',
      message: `The certificate expired on ${certificateEndsAt.toISOString().slice(0, 10)}.`,
    };
  }
  if (CRITICAL.test(body)) {
    return {
      cause: 'wordpress',
      message: `WordPress answered ${status}: "There has been a critical error".`,
    };
  }
  if (NO_DATABASE.test(body)) {
    return {
      cause: 'wordpress',
      message: `WordPress answered ${status}: it has no connection to its database.`,
    };
  }
  const [shown] = SHOWN_ERROR.exec(body) ?? [];
  if (shown !== undefined) {
    return { cause: 'php', message: `The home page shows an error of PHP: ${failureSentence(shown)}` };
  }
  if (status === 404 || status === 410) {
    return { cause: 'status', message: `The home page is missing (${status}).` };
  }
  if (status < 300 && body.trim() === '') return { cause: 'php', message: 'The home page is empty.' };
  if (status < 500 || isMaintenance(answer)) return null;
  return { cause: 'status', message: `The home page answered ${status}.` };
}

/** The fault of a redirect that goes nowhere; null if it can be followed. `before`: the addresses asked so far. */
export function faultOfRedirect({ location, status }: EdgeAnswer, before: readonly string[]): Fault | null {
  if (location === null) {
    return {
      cause: 'redirects',
      message: `The home page answered ${status} with an address that is not valid.`,
    };
  }
  if (INSTALLATION.test(location.pathname)) {
    return {
      cause: 'wordpress',
      message: 'The home page leads to the installation of WordPress: its database is empty.',
    };
  }
  if (before.includes(location.href)) {
    const circle = [...before.slice(before.indexOf(location.href)), location.href].map(quotable);
    return { cause: 'redirects', message: printable(`The redirects go in a circle: ${circle.join(' → ')}.`) };
  }
  return null;
}

function isMaintenance({ status, retryAfter }: EdgeAnswer): boolean {
  if (status !== 503 || retryAfter === null) return false;
  return /^\d+$/.test(retryAfter)
    ? Number(retryAfter) >= MAINTENANCE_SECONDS
    : !Number.isNaN(Date.parse(retryAfter));
}
