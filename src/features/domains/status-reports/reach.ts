import { DOMAIN_CHECK_PREFIX, type Host } from '../../../hosting/contract/host.ts';
import { hasCode } from '../../../lib/error-code.ts';
import type { Randomness } from '../../../lib/ids.ts';
import { isLocalhost } from '../../../network/dns/domain-name.ts';
import { NameNotResolved } from '../../../network/dns/resolver.ts';
import type { ProbeProblem, Prober, RedirectChain, Target } from '../../../network/probe/prober.ts';
import { isWildcard } from '../domains/domain-name.ts';

/**
 * `another_server`: there was an answer, but not the edge's. `no_route`: this machine has no connection by the address's
 * family (IPv6, mostly), which says nothing of the name.
 */
export type ArrivalProblem = ProbeProblem | 'another_server' | 'no_route';

/** One try to fetch the token: by one scheme, at one address. */
export interface Arrival {
  scheme: 'http' | 'https';
  address: string;
  family: 4 | 6;
  arrives: boolean;
  /** Why not, one sentence. */
  failure: string | null;
  /** The same, for rules. */
  problem: ArrivalProblem | null;
}

/** Whether what visitors of a name ask for ends at this edge. */
export interface Reach {
  arrivals: Arrival[];
  /** Every address that tells something arrives, and there is one: an authority may pick any. */
  arrivesByHttp: boolean;
  arrivesByHttps: boolean;
  /** Nothing was tried, because every address is private or none is known. */
  untried: boolean;
  /** What to do when it does not arrive by HTTP, one sentence; else null. */
  sentence: string | null;
  /** Whether its visitors come here; null where that could not be seen, which is no fault of the name. */
  reached: boolean | null;
}

interface Parts {
  host: Pick<Host, 'publish' | 'withdraw'>;
  prober: Prober;
  random: Randomness;
}

const NO_ROUTE = ['ENETUNREACH', 'EADDRNOTAVAIL', 'EAFNOSUPPORT'];
/** Whoever publishes hundreds of addresses does not get hundreds of visits. */
const ADDRESSES_A_FAMILY = 4;
/** RFC 1035 section 2.3.4, as text. */
const LONGEST_NAME = 253;

/**
 * Has the edge answer a random token for the name and fetches it through the public name: IPv4 and IPv6, HTTP and HTTPS,
 * redirects followed (a CDN may send HTTP to HTTPS). It is the only proof that traffic for a name ends here. The token is
 * withdrawn however it ends. Never throws for what the network does.
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
    const sentence = `${name} has the private address ${first?.address}, which nobody outside can reach; set its DNS record to a public one.`;
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

/** A name that visitors can ask for: a random label stands for a wildcard's star. */
export function hostToProbe(name: string, random: Randomness): string {
  if (!isWildcard(name)) return name;
  const below = name.slice('*.'.length);
  return `${random
    .bytes(6)
    .toString('hex')
    .slice(0, LONGEST_NAME - below.length - 1)}.${below}`;
}

interface NoTargets {
  sentence: string;
  /** No name server answered, so nothing is known of the name. */
  isUnknown: boolean;
}

/** At most a few addresses of each family, or why there are none to be had. */
async function targetsOf(name: string, prober: Prober, signal: AbortSignal): Promise<Target[] | NoTargets> {
  try {
    const all = await prober.targets(name, signal);
    const some = [4, 6].flatMap((family) =>
      all.filter((target) => target.family === family).slice(0, ADDRESSES_A_FAMILY),
    );
    // What localhost stands for is no choice of its owner, so what may not be visited says nothing of the name.
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
    failure: `${address} is a private address, which nobody outside can reach.`,
    problem: 'private_address',
  }));
}

/**
 * The tries by one scheme that say something of the name: those without a route only if there are no others, and those
 * of a family that nothing here gets through to only if the other one does not work either.
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

/** Whoever reads it may not know what this platform's addresses are; the status report tells them. */
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
