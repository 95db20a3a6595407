import type { DnsAnswer, DnsServer } from './client.ts';
import type { DnsProblem } from './problem.ts';
import type { RecordType } from './record.ts';

/** The configured recursive resolvers. */
export interface DnsResolver {
  readonly servers: DnsServer[];
  /** Asks them in order: the next one on time-out, unreachable, SERVFAIL and REFUSED; the last answer stands. Throws DnsTimeout, DnsUnreachable. */
  resolve(name: string, type: RecordType, signal: AbortSignal): Promise<DnsAnswer>;
}

/** A name has no address that could be found; `problem` says why. */
export class NameNotResolved extends Error {
  override name = 'NameNotResolved';
  readonly problem: DnsProblem;

  constructor(message: string, problem: DnsProblem) {
    super(message);
    this.problem = problem;
  }
}

export function createDnsResolver(_servers: DnsServer[]): DnsResolver {
  throw new Error('not built yet');
}

export function systemDnsServers(): DnsServer[] {
  throw new Error('not built yet');
}

export function addressesOf(_resolver: DnsResolver, _name: string, _signal: AbortSignal): Promise<string[]> {
  throw new Error('not built yet');
}
