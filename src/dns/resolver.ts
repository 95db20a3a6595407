import { getServers } from 'node:dns';
import { type DnsAnswer, type DnsServer, DnsUnreachable } from './client.ts';
import type { DnsProblem } from './problem.ts';
import type { RecordType } from './record.ts';

/** The recursive resolvers that the configuration names. */
export interface DnsResolver {
  readonly servers: DnsServer[];
  /**
   * Asks them in order: the next one on time-out, unreachable, SERVFAIL or REFUSED; the last answer stands.
   * Throws {@link DnsTimeout} or {@link DnsUnreachable}.
   */
  resolve(name: string, type: RecordType, signal: AbortSignal): Promise<DnsAnswer>;
}

export function createDnsResolver(servers: DnsServer[]): DnsResolver {
  return { servers, resolve: () => Promise.reject(new DnsUnreachable('No server is asked yet.')) };
}

/** The resolvers of the system, with their ports. */
export function systemDnsServers(): DnsServer[] {
  return getServers().map(parseServer);
}

/** `192.0.2.1`, `192.0.2.1:5353`, `2001:db8::1` or `[2001:db8::1]:5353`, as node:dns writes them. */
export function parseServer(text: string): DnsServer {
  const withPort = /^(?:\[([^\]]+)\]|([^:]+)):(\d+)$/.exec(text);
  const host = withPort?.[1] ?? withPort?.[2];
  return host === undefined ? { host: text, port: 53 } : { host, port: Number(withPort?.[3]) };
}

/** A host name has no address, or none could be found out; `problem` says why. */
export class NameNotResolved extends Error {
  override name = 'NameNotResolved';
  readonly problem: DnsProblem;

  constructor(name: string, problem: DnsProblem) {
    super(`${name} could not be resolved (${problem.kind}).`);
    this.problem = problem;
  }
}

/**
 * The A and AAAA addresses of a name, through CNAMEs; [] where it exists without any. `.localhost` names are 127.0.0.1
 * and ::1 without asking (RFC 6761 6.3). Throws {@link NameNotResolved} if it does not exist or neither type could be
 * asked for.
 */
export function addressesOf(_resolver: DnsResolver, name: string, _signal: AbortSignal): Promise<string[]> {
  return Promise.reject(new NameNotResolved(name, { kind: 'unreachable' }));
}
