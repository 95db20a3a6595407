import { NameNotResolved } from '../dns/resolver.ts';
import {
  isRedirect,
  locationText,
  ProbeFailure,
  type ProbeProblem,
  type ProbeResponse,
  refusedAddress,
} from './probe-response.ts';
import type { Target } from './target.ts';
import { quotable } from './untrusted-text.ts';
import { isWebPort, portRefused, refuseUnsafeUrl, type WebPorts } from './web-urls.ts';

/** Result of following redirects. */
export interface RedirectChain {
  /** Every requested URL, in order. A refused URL appears only in the failure. */
  urls: string[];
  /** The last response, which may be a redirect; null if there was none. */
  last: ProbeResponse | null;
  /** Null if the chain ended at a response that is not a redirect. */
  failure: ProbeFailure | null;
}

/** Every URL that visitors are sent to, in order. A loop ends with the URL that closes it. */
export function chainUrls({ urls, last, failure }: RedirectChain): string[] {
  const closing = failure?.problem === 'redirect_loop' ? last?.location : null;
  return closing ? [...urls, closing.href] : urls;
}

const MAX_REDIRECTS = 10;
/** Longer than any real link. Reports keep the URLs, so their size is limited. */
const MAX_URL_CHARACTERS = 4096;
/** Addresses to try for a name, as browsers go on to the next address. */
const MAX_TRIED = 4;
/** Problems that another address of the same name may not have. */
const OF_ONE_ADDRESS: ProbeProblem[] = ['refused', 'unreachable', 'timeout', 'reset'];

/** The parts of a prober that each hop needs. */
interface HopTransport {
  targets(host: string, signal: AbortSignal): Promise<Target[]>;
  get(
    url: URL,
    address: string,
    signal: AbortSignal,
    options?: { maxBytes?: number },
  ): Promise<ProbeResponse>;
  portsOf(address: string): WebPorts;
}

/** Follows redirects from a URL to the first response that is not one. Resolves and checks each hop again. */
export async function followRedirects(
  means: HopTransport,
  start: URL,
  signal: AbortSignal,
  { address, ...options }: { address?: string; maxBytes?: number } = {},
): Promise<RedirectChain> {
  const chain: RedirectChain = { urls: [], last: null, failure: null };
  let url = withoutFragment(start);
  try {
    for (;;) {
      refuseHop(chain.urls, url);
      const given = chain.urls.length === 0 ? address : undefined;
      const addresses = await addressesFor(means, url, signal, given);
      chain.urls.push(url.href);
      const response = await getAtOneOf(addresses, (one) => means.get(url, one, signal, options), signal);
      chain.last = response;
      const location = locationOf(response, url);
      if (location === null) return chain;
      url = withoutFragment(location);
    }
  } catch (error) {
    if (!(error instanceof ProbeFailure)) throw error;
    return { ...chain, failure: error };
  }
}

function refuseHop(before: string[], url: URL): void {
  refuseUnsafeUrl(url);
  if (before.includes(url.href)) {
    throw new ProbeFailure(
      'redirect_loop',
      `The redirects form a loop: ${loopOf([...before.slice(before.indexOf(url.href)), url.href])}; remove one of them.`,
    );
  }
  if (before.length > MAX_REDIRECTS) {
    throw new ProbeFailure(
      'too_many_redirects',
      `${quotable(before[0] ?? '')} redirects more than ${MAX_REDIRECTS} times, last to ${quotable(url.href)}; redirect to the final address directly.`,
    );
  }
}

function loopOf(urls: string[]): string {
  return urls.map(quotable).join(' → ');
}

async function addressesFor(
  { targets: resolve, portsOf }: Pick<HopTransport, 'targets' | 'portsOf'>,
  url: URL,
  signal: AbortSignal,
  address: string | undefined,
): Promise<string[]> {
  // An IP literal is its own target, so a given address is checked like the others.
  const targets = await resolve(address ?? url.hostname, signal).catch((error: unknown) => {
    throw notResolved(url, signal, error);
  });
  const [first] = targets;
  if (first === undefined) {
    throw new ProbeFailure(
      'unresolved',
      `${quotable(url.hostname)} has no address; add an A or AAAA record for it.`,
    );
  }
  const allowed = targets.filter((target) => target.allowed);
  if (allowed.length === 0) {
    throw new ProbeFailure(
      'private_address',
      `${quotable(url.href)} leads to ${refusedAddress(first.address)}.`,
    );
  }
  const visited = allowed.filter((target) => isWebPort(url, portsOf(target.address)));
  if (visited.length === 0) throw portRefused(url);
  return inTurns(visited)
    .slice(0, MAX_TRIED)
    .map((target) => target.address);
}

/** Alternates IPv4 and IPv6, so that an unreachable family does not use up all tries. */
function inTurns(targets: Target[]): Target[] {
  const of = (family: Target['family']) => targets.filter((target) => target.family === family);
  return [of(4), of(6)]
    .flatMap((family) => family.map((target, turn) => ({ target, turn })))
    .toSorted((one, other) => one.turn - other.turn)
    .map(({ target }) => target);
}

function notResolved(url: URL, signal: AbortSignal, cause: unknown): ProbeFailure {
  const host = quotable(url.hostname);
  if (signal.aborted)
    return new ProbeFailure('timeout', `${host} could not be looked up in time.`, { cause });
  if (cause instanceof NameNotResolved) return new ProbeFailure('unresolved', cause.message, { cause });
  throw cause;
}

async function getAtOneOf(
  addresses: string[],
  get: (address: string) => Promise<ProbeResponse>,
  signal: AbortSignal,
): Promise<ProbeResponse> {
  const [address = '', ...others] = addresses;
  try {
    return await get(address);
  } catch (error) {
    const elsewhere = error instanceof ProbeFailure && OF_ONE_ADDRESS.includes(error.problem);
    if (others.length === 0 || !elsewhere || signal.aborted) throw error;
    return getAtOneOf(others, get, signal);
  }
}

/** The target of a redirect; null for any other response. */
function locationOf(response: ProbeResponse, from: URL): URL | null {
  const { location, headers } = response;
  if (location === null && !isRedirect(response.status, headers.location)) return null;
  if (location === null || location.href.length > MAX_URL_CHARACTERS) {
    throw new ProbeFailure(
      'bad_redirect',
      `${quotable(from.href)} redirects to "${quotable(locationText(headers.location ?? ''))}", which is not a valid address; correct the redirect.`,
    );
  }
  return location;
}

/** A fragment is never sent, so URLs that differ only in it are the same. */
function withoutFragment(url: URL): URL {
  const bare = new URL(url);
  bare.hash = '';
  return bare;
}
