import type { Host } from '../../../hosting/contract/host.ts';
import { DOMAIN_CHECK_PREFIX } from '../../../hosting/contract/proofs.ts';
import { hasCode } from '../../../lib/error-code.ts';
import { MAX_HOST_NAME } from '../../../lib/host-names.ts';
import type { Randomness } from '../../../lib/ids.ts';
import { isLocalhost } from '../../../network/dns/domain-name.ts';
import { NameNotResolved } from '../../../network/dns/resolver.ts';
import { addressKind } from '../../../network/probe/address-kind.ts';
import type { ProbeProblem, Prober, RedirectChain, Target } from '../../../network/probe/prober.ts';
import { isWildcard } from '../domains/domain-name.ts';

/**
 * `another_server`: the answer did not come from the edge. `no_route`: this machine has no connection for the address
 * family (usually IPv6), which says nothing about the name.
 */
export type ArrivalProblem = ProbeProblem | 'another_server' | 'no_route';

/** Result of one attempt to fetch the token, by one scheme at one address. */
export interface Arrival {
  scheme: 'http' | 'https';
  address: string;
  family: 4 | 6;
  arrives: boolean;
  /** One sentence that says why it did not arrive. */
  failure: string | null;
  /** The same as a code. */
  problem: ArrivalProblem | null;
}

/** Whether requests for a name reach this platform's edge. */
export interface Reach {
  arrivals: Arrival[];
  /** All conclusive attempts arrived, and there was at least one. An authority may pick any address. */
  arrivesByHttp: boolean;
  arrivesByHttps: boolean;
  /** No attempt was made, because all addresses are private or unknown. */
  untried: boolean;
  /** One sentence that says what to do if HTTP does not arrive; else null. */
  sentence: string | null;
  /** Whether visitors reach this platform; null if unknown for reasons outside the name. */
  reached: boolean | null;
}

interface Parts {
  host: Pick<Host, 'publish' | 'withdraw'>;
  prober: Prober;
  random: Randomness;
}

const NO_ROUTE = ['ENETUNREACH', 'EADDRNOTAVAIL', 'EAFNOSUPPORT'];
/** Limits the attempts for a name with many addresses. */
const ADDRESSES_A_FAMILY = 4;

/**
 * Publishes a random token at the edge and fetches it through the public name, over IPv4 and IPv6, HTTP and HTTPS. Follows
 * redirects, because a CDN may send HTTP to HTTPS. Only the token proves that traffic for a name ends here. It is always
 * withdrawn. Network errors never throw.
 */
export async function probeReach(name: string, parts: Parts, signal: AbortSignal): Promise<Reach> {
  const hostname = hostToProbe(name, parts.random);
  const targets = await targetsOf(hostname, parts.prober, signal);
  if (!Array.isArray(targets)) return untried([], targets.sentence, targets.isUnknown ? null : false);
  if (targets.length === 0) {
    return untried([], `${name} has no address; give it an A record in the DNS.`, false);
  }
  if (targets.every(({ allowed }) => !allowed)) {
    const [first] = targets;
    const sentence = `${name} has the ${addressKind(first?.address ?? '')} address ${first?.address}, which visitors cannot reach; set its DNS record to a public one.`;
    return untried(targets.flatMap(refusedArrivals), sentence, null);
  }
  const arrivals = await fetchToken(hostname, targets, parts, signal);
  const arrivesByHttp = arrivesAtAll('http', arrivals);
  return {
    arrivals,
    arrivesByHttp,
    arrivesByHttps: arrivesAtAll('https', arrivals),
    untried: false,
    sentence: arrivesByHttp ? null : adviceFor(name, arrivals),
    reached: arrivesByHttp,
  };
}

/** A name that visitors can open: for a wildcard, a random label in place of the star. */
export function hostToProbe(name: string, random: Randomness): string {
  if (!isWildcard(name)) return name;
  const below = name.slice('*.'.length);
  return `${random
    .bytes(6)
    .toString('hex')
    .slice(0, MAX_HOST_NAME - below.length - 1)}.${below}`;
}

interface NoTargets {
  sentence: string;
  /** No name server answered, so nothing is known about the name. */
  isUnknown: boolean;
}

/** A few addresses of each family, or the reason why there are none. */
async function targetsOf(name: string, prober: Prober, signal: AbortSignal): Promise<Target[] | NoTargets> {
  try {
    const all = await prober.targets(name, signal);
    const some = [4, 6].flatMap((family) =>
      all.filter((target) => target.family === family).slice(0, ADDRESSES_A_FAMILY),
    );
    // Owners do not choose the addresses of localhost, so forbidden ones say nothing about the name.
    return isLocalhost(name) && some.some(({ allowed }) => allowed)
      ? some.filter(({ allowed }) => allowed)
      : some;
  } catch (error) {
    if (error instanceof NameNotResolved) {
      const isUnknown = ['timeout', 'unreachable'].includes(error.problem.kind);
      return { sentence: error.message, isUnknown };
    }
    throw error;
  }
}

async function fetchToken(
  hostname: string,
  targets: Target[],
  { host, prober, random }: Parts,
  signal: AbortSignal,
): Promise<Arrival[]> {
  const text = random.bytes(24).toString('base64url');
  const path = `${DOMAIN_CHECK_PREFIX}${random.bytes(18).toString('base64url')}`;
  await host.publish({ hostname, path, text });
  try {
    return (
      await Promise.all(
        targets.map((target) => (target.allowed ? probe(target) : Promise.resolve(refusedArrivals(target)))),
      )
    ).flat();
  } finally {
    await host.withdraw({ hostname, path });
  }

  function probe({ address, family }: Target): Promise<Arrival[]> {
    return Promise.all(
      (['http', 'https'] as const).map(async (scheme) => {
        const url = new URL(`${scheme}://${hostname}${path}`);
        const redirects = await prober.follow(url, signal, { address, maxBytes: 1024 });
        return { scheme, address, family, ...verdict(redirects, text, hostname, address) };
      }),
    );
  }
}

function verdict(
  { last, failure }: RedirectChain,
  text: string,
  hostname: string,
  address: string,
): Pick<Arrival, 'arrives' | 'failure' | 'problem'> {
  if (failure) {
    const problem = hasCode(failure.cause, ...NO_ROUTE) ? 'no_route' : failure.problem;
    return { arrives: false, failure: failure.message, problem };
  }
  if (last?.status === 200 && last.body.trim() === text)
    return { arrives: true, failure: null, problem: null };
  const sentence = `Another server answers for ${hostname} at ${address} (status ${last?.status ?? 0}).`;
  return { arrives: false, failure: sentence, problem: 'another_server' };
}

function refusedArrivals({ address, family }: Target): Arrival[] {
  return (['http', 'https'] as const).map((scheme) => ({
    scheme,
    address,
    family,
    arrives: false,
    failure: `${address} is a ${addressKind(address)} address, which visitors cannot reach.`,
    problem: 'private_address',
  }));
}

/**
 * The conclusive attempts by one scheme. Attempts without a route count only if there are no others. Attempts over an
 * unreachable family count only if the other family does not work either.
 */
export function triedBy(scheme: Arrival['scheme'], arrivals: Arrival[]): Arrival[] {
  const all = arrivals.filter((arrival) => arrival.scheme === scheme);
  const works = all.some(({ arrives }) => arrives);
  const isDead = (family: Arrival['family']) =>
    all.every((arrival) => arrival.family !== family || isUnreachable(arrival));
  const telling = all.filter(({ problem, family }) => problem !== 'no_route' && !(works && isDead(family)));
  return telling.length > 0 ? telling : all;
}

function isUnreachable({ problem }: Arrival): boolean {
  return problem === 'no_route' || problem === 'unreachable';
}

function arrivesAtAll(scheme: Arrival['scheme'], arrivals: Arrival[]): boolean {
  const tried = triedBy(scheme, arrivals);
  return tried.length > 0 && tried.every(({ arrives }) => arrives);
}

function untried(arrivals: Arrival[], sentence: string, reached: false | null): Reach {
  return { arrivals, arrivesByHttp: false, arrivesByHttps: false, untried: true, sentence, reached };
}

/** Advice without the platform's addresses, which only status reports name. */
function adviceFor(name: string, arrivals: Arrival[]): string {
  const tried = triedBy('http', arrivals);
  const stray = tried.find(({ arrives }) => !arrives);
  const type = stray?.family === 6 ? 'AAAA' : 'A';
  if (tried.some(({ arrives }) => arrives)) {
    return `Remove the ${type} record ${stray?.address} of ${name}; it does not lead here.`;
  }
  if (stray?.problem === 'another_server') {
    return `${name} leads to another server at ${stray.address}; set its DNS record to this platform.`;
  }
  return `${name} cannot be reached by HTTP: ${stray?.failure ?? 'nothing answers.'}`;
}
