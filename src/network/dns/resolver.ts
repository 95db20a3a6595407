import { getServers } from 'node:dns';
import { isIP } from 'node:net';
import { askServer, type DnsAnswer, type DnsServer, DnsTimeout } from './client.ts';
import { type CnameChain, followCnames } from './cname-chain.ts';
import { type DnsProblem, problemOfRcode } from './dns-problem.ts';
import { canonicalName, isAskable, isLocalhost } from './domain-name.ts';
import type { RecordType } from './record.ts';

/** The configured recursive resolvers. */
export interface DnsResolver {
  readonly servers: DnsServer[];
  /**
   * Queries the servers in order. Goes on to the next after a timeout, an unreachable server, SERVFAIL or REFUSED. Returns
   * the last answer. Throws DnsTimeout or DnsUnreachable if no server answered.
   */
  resolve(name: string, type: RecordType, signal: AbortSignal): Promise<DnsAnswer>;
}

/** No address of a name could be found; `problem` says why. */
export class NameNotResolved extends Error {
  override name = 'NameNotResolved';
  readonly problem: DnsProblem;

  constructor(message: string, problem: DnsProblem) {
    super(message);
    this.problem = problem;
  }
}

export function createDnsResolver(servers: DnsServer[]): DnsResolver {
  async function resolve(name: string, type: RecordType, signal: AbortSignal): Promise<DnsAnswer> {
    let answer: DnsAnswer | null = null;
    let failure: unknown = new Error('No DNS resolver is configured.');
    for (const server of servers) {
      try {
        answer = await askServer(server, { name, type, recursive: true }, { signal });
        if (answer.rcode === 'NOERROR' || answer.rcode === 'NXDOMAIN') return answer;
      } catch (error) {
        failure = error;
      }
      if (signal.aborted) break;
    }
    if (answer === null) throw failure;
    return answer;
  }
  return { servers, resolve };
}

/** The resolvers that this machine is configured to use. */
export function systemDnsServers(): DnsServer[] {
  return getServers().map((text) => {
    const [, inBrackets, plain, port] = /^(?:\[(.+)\]|([^:]+)):(\d+)$/.exec(text) ?? [];
    return { host: inBrackets ?? plain ?? text, port: Number(port ?? 53) };
  });
}

/**
 * Resolves the addresses of a name through CNAMEs, IPv4 first; [] if the name exists without an address. IP addresses and
 * `localhost` (RFC 6761) need no query. Throws NameNotResolved.
 */
export async function addressesOf(
  resolver: DnsResolver,
  name: string,
  signal: AbortSignal,
): Promise<string[]> {
  const wanted = canonicalName(name);
  if (isIP(wanted) !== 0) return [wanted];
  if (isLocalhost(wanted)) return ['127.0.0.1', '::1'];
  if (!isAskable(wanted)) throw notResolved(wanted, { kind: 'nxdomain', name: wanted, unregistered: false });
  const outcomes = await Promise.all(
    (['A', 'AAAA'] as const).map(async (type) => {
      try {
        return await followCnames(wanted, (next) => resolver.resolve(next, type, signal));
      } catch (error) {
        return error;
      }
    }),
  );
  const chains = outcomes.filter(isChain);
  const addresses = chains.flatMap(({ answer, end }) =>
    answer.answers.flatMap((record) =>
      (record.type === 'A' || record.type === 'AAAA') && record.hdr.name === end ? [record.address] : [],
    ),
  );
  if (addresses.length > 0) return addresses;
  const problems = outcomes.map((outcome) =>
    isChain(outcome) ? problemOfChain(outcome) : problemOfFailure(outcome),
  );
  // One failed query leaves it open whether there is an address.
  const problem = problems.find((one) => one !== null);
  if (problem) throw notResolved(wanted, problem);
  return [];
}

function isChain(outcome: unknown): outcome is CnameChain {
  return typeof outcome === 'object' && outcome !== null && 'cnames' in outcome;
}

function problemOfChain({ answer, cnames, end, loop, isTooLong }: CnameChain): DnsProblem | null {
  if (loop !== null) return { kind: 'cname_loop', names: loop };
  if (isTooLong) return { kind: 'long_cname_chain' };
  if (answer.rcode === 'NXDOMAIN') {
    return cnames.length > 0
      ? { kind: 'dangling_cname', target: end }
      : { kind: 'nxdomain', name: end, unregistered: false };
  }
  return answer.rcode === 'NOERROR' ? null : problemOfRcode(answer.rcode, null);
}

/** The problem of a name whose query failed. */
export function problemOfFailure(failure: unknown): { kind: 'timeout' | 'unreachable' } {
  return { kind: failure instanceof DnsTimeout ? 'timeout' : 'unreachable' };
}

const SENTENCES: Record<DnsProblem['kind'], string> = {
  nxdomain: 'does not exist',
  servfail: 'could not be looked up: its DNS servers fail',
  resolver_error: 'could not be looked up: the DNS resolver refuses to answer',
  timeout: 'could not be looked up in time',
  unreachable: 'could not be looked up: no DNS resolver can be reached',
  lame: 'could not be looked up: its DNS servers do not serve it',
  cname_at_apex: 'has a CNAME at a domain apex, which is not allowed',
  cname_loop: 'has CNAMEs that form a loop',
  long_cname_chain: 'has more CNAMEs in a row than resolvers follow',
  dangling_cname: 'has a CNAME to a name that does not exist',
  no_address: 'has no address',
};

function notResolved(name: string, problem: DnsProblem): NameNotResolved {
  return new NameNotResolved(`${name} ${SENTENCES[problem.kind]}.`, problem);
}
