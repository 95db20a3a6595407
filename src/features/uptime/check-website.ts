import type { Agent as HttpAgent } from 'node:http';
import type { Agent as HttpsAgent } from 'node:https';
import { askEdge, type EdgeAnswer } from '../../network/probe/ask-edge.ts';
import { type Fault, faultOf, faultOfRedirect, faultWithoutAnswer } from './judgement.ts';

/** Where the edge of a host answers. */
export interface EdgePlace {
  address: string;
  ports: { http: number; https: number };
}

/** A website, as its visitors open it. */
export interface WatchedWebsite {
  /** The main domain. */
  hostname: string;
  /** Whether visitors use HTTPS. */
  isSecure: boolean;
  /** All host names that it serves; `*.example.com` matches one label. */
  names: readonly string[];
}

/** How one check is made. */
export interface CheckParts {
  edge: EdgePlace;
  now: Date;
  limitMs: number;
  /** Connections that several cached answers share. */
  agents: { http: HttpAgent; https: HttpsAgent };
}

/** After that many, a chain of redirects is as good as a circle for visitors: browsers give up, too. */
const MOST_REDIRECTS = 5;
/** The edge has no page to show without asking PHP. */
const NOT_CACHED = 504;

/**
 * Asks for the home page as a visitor does. `wanted`: `page` may ask PHP, `cached` never does. Follows redirects to the website's own
 * names; any other target is an answer. Returns null if the website works. Rejects only if `signal` aborts.
 */
export async function checkWebsite(
  { hostname, isSecure, names }: WatchedWebsite,
  wanted: 'page' | 'cached',
  { edge, now, limitMs, agents }: CheckParts,
  signal: AbortSignal,
): Promise<Fault | null> {
  let url = new URL(`${isSecure ? 'https' : 'http'}://${hostname}/`);
  const before: string[] = [];
  while (before.length <= MOST_REDIRECTS) {
    before.push(url.href);
    const isHttps = url.protocol === 'https:';
    const outcome = await askEdge(
      {
        url,
        wanted,
        limitMs,
        address: edge.address,
        port: isHttps ? edge.ports.https : edge.ports.http,
        // A request for a page has a separate connection, which shows the certificate.
        ...(wanted === 'cached' ? { agent: isHttps ? agents.https : agents.http } : {}),
      },
      signal,
    );
    signal.throwIfAborted();
    if ('problem' in outcome) return faultWithoutAnswer(outcome, limitMs);
    if (!outcome.isRedirect) return wanted === 'cached' ? faultOfCached(outcome, now) : faultOf(outcome, now);
    const fault = faultOfRedirect(outcome, before);
    if (fault !== null || outcome.location === null || !isOwn(outcome.location, names, edge)) return fault;
    url = outcome.location;
  }
  return {
    cause: 'redirects',
    message: `The home page redirects more than ${MOST_REDIRECTS} times, last to ${before.at(-1)}.`,
  };
}

/** The answer to HEAD: its status and headers alone. */
function faultOfCached(answer: EdgeAnswer, now: Date): Fault | null {
  return answer.status < 500 || answer.status === NOT_CACHED ? null : faultOf(answer, now);
}

function isOwn({ protocol, hostname, port }: URL, names: readonly string[], { ports }: EdgePlace): boolean {
  if (protocol !== 'http:' && protocol !== 'https:') return false;
  // An edge without the usual ports names its own.
  if (port !== '' && Number(port) !== (protocol === 'https:' ? ports.https : ports.http)) return false;
  return names.includes(hostname) || names.includes(hostname.replace(/^[^.]+/, '*'));
}
