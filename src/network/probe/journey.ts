import { NameNotResolved } from '../dns/resolver.ts';
import { shownText } from './foreign-text.ts';
import { isWebPort, portRefused, refuseUnvisitable } from './get.ts';
import {
  isRedirect,
  locationText,
  refusedAddress,
  type Visit,
  VisitFailure,
  type VisitProblem,
} from './visit.ts';
import type { Target, Visitor, VisitorOptions } from './visitor.ts';

/** What following redirects came to. */
export interface Journey {
  /** Every URL that was asked, in order; one that was refused is told by the failure alone. */
  urls: string[];
  /** The last answer, be it a redirect; null if there was none. */
  last: Visit | null;
  /** Why it ended early; null if it arrived. */
  failure: VisitFailure | null;
}

const MAX_REDIRECTS = 10;
/** Longer than browsers' own links ever are; a report keeps the addresses. */
const MAX_URL_CHARACTERS = 4096;
/** A name with many addresses is tried at so many, as a browser would go on to the next. */
const MAX_TRIED = 4;
/** What another address of the same name may do better. */
const OF_ONE_ADDRESS: VisitProblem[] = ['refused', 'unreachable', 'timeout', 'reset'];

/** What a journey is made with. */
type Means = Pick<Visitor, 'targets' | 'get'> & Pick<VisitorOptions, 'portsOf'>;

/** Follows redirects from a URL to an answer that is none. Each hop is resolved and checked anew. */
export async function follow(
  means: Means,
  start: URL,
  signal: AbortSignal,
  { address, ...options }: { address?: string; maxBytes?: number } = {},
): Promise<Journey> {
  const journey: Journey = { urls: [], last: null, failure: null };
  let url = withoutFragment(start);
  try {
    for (;;) {
      refuseHop(journey.urls, url);
      const given = journey.urls.length === 0 ? address : undefined;
      const addresses = await addressesFor(means, url, signal, given);
      journey.urls.push(url.href);
      const visit = await getAtOneOf(addresses, (one) => means.get(url, one, signal, options), signal);
      journey.last = visit;
      const location = locationOf(visit, url);
      if (location === null) return journey;
      url = withoutFragment(location);
    }
  } catch (error) {
    if (!(error instanceof VisitFailure)) throw error;
    return { ...journey, failure: error };
  }
}

function refuseHop(before: string[], url: URL): void {
  refuseUnvisitable(url);
  if (before.includes(url.href)) {
    throw new VisitFailure(
      'redirect_loop',
      `The redirects go in a circle: ${loopOf([...before.slice(before.indexOf(url.href)), url.href])}; take one of them out.`,
    );
  }
  if (before.length > MAX_REDIRECTS) {
    throw new VisitFailure(
      'too_many_redirects',
      `${shownText(before[0] ?? '')} redirects more than ${MAX_REDIRECTS} times, last to ${shownText(url.href)}; make it redirect to the final address at once.`,
    );
  }
}

function loopOf(urls: string[]): string {
  return urls.map(shownText).join(' → ');
}

async function addressesFor(
  { targets: resolve, portsOf }: Pick<Means, 'targets' | 'portsOf'>,
  url: URL,
  signal: AbortSignal,
  address: string | undefined,
): Promise<string[]> {
  // An address is its own target, so that one that was given is judged like the others.
  const targets = await resolve(address ?? url.hostname, signal).catch((error: unknown) => {
    throw notResolved(url, signal, error);
  });
  const [first] = targets;
  if (first === undefined) {
    throw new VisitFailure(
      'unresolved',
      `${shownText(url.hostname)} has no address; add an A or AAAA record for it.`,
    );
  }
  const allowed = targets.filter((target) => target.allowed);
  if (allowed.length === 0) {
    throw new VisitFailure(
      'private_address',
      `${shownText(url.href)} leads to ${refusedAddress(first.address)}.`,
    );
  }
  const visited = allowed.filter((target) => isWebPort(url, portsOf(target.address)));
  if (visited.length === 0) throw portRefused(url);
  return inTurns(visited)
    .slice(0, MAX_TRIED)
    .map((target) => target.address);
}

/** IPv4 and IPv6 by turns, so that neither family uses up all the tries where it leads nowhere. */
function inTurns(targets: Target[]): Target[] {
  const of = (family: Target['family']) => targets.filter((target) => target.family === family);
  return [of(4), of(6)]
    .flatMap((family) => family.map((target, turn) => ({ target, turn })))
    .toSorted((one, other) => one.turn - other.turn)
    .map(({ target }) => target);
}

function notResolved(url: URL, signal: AbortSignal, cause: unknown): VisitFailure {
  const host = shownText(url.hostname);
  if (signal.aborted)
    return new VisitFailure('timeout', `${host} could not be looked up in time.`, { cause });
  if (cause instanceof NameNotResolved) return new VisitFailure('unresolved', cause.message, { cause });
  throw cause;
}

async function getAtOneOf(
  addresses: string[],
  get: (address: string) => Promise<Visit>,
  signal: AbortSignal,
): Promise<Visit> {
  const [address = '', ...others] = addresses;
  try {
    return await get(address);
  } catch (error) {
    const elsewhere = error instanceof VisitFailure && OF_ONE_ADDRESS.includes(error.problem);
    if (others.length === 0 || !elsewhere || signal.aborted) throw error;
    return getAtOneOf(others, get, signal);
  }
}

/** Where a redirect leads; null if the answer is none. */
function locationOf(visit: Visit, from: URL): URL | null {
  const { location, headers } = visit;
  if (location === null && !isRedirect(visit.status, headers.location)) return null;
  if (location === null || location.href.length > MAX_URL_CHARACTERS) {
    throw new VisitFailure(
      'bad_redirect',
      `${shownText(from.href)} redirects to "${shownText(locationText(headers.location ?? ''))}", which is no address that can be opened; correct the redirect.`,
    );
  }
  return location;
}

/** A fragment is never sent, so addresses that differ in it alone are the same. */
function withoutFragment(url: URL): URL {
  const bare = new URL(url);
  bare.hash = '';
  return bare;
}
