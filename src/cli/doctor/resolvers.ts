import type { Config } from '../../config/config.ts';
import { codeOf } from '../../lib/error-code.ts';
import { hostAndPort } from '../../lib/host-and-port.ts';
import { askServer, type DnsServer, DnsTimeout, DnsUnreachable } from '../../network/dns/client.ts';
import { systemDnsServers } from '../../network/dns/resolver.ts';
import { type Finding, ok, problem, warning } from './finding.ts';

const CHECK = 'resolvers';
const PATIENCE_MS = 2_000;
/** Sent again once in that time. */
const ATTEMPT_MS = 900;
/** A top-level domain that will always be there (RFC 3172); where an inner root knows none, "no such name" is an answer. */
const QUESTION = { name: 'arpa', type: 'NS', recursive: true } as const;

/**
 * Whether the DNS servers that domain checks ask do answer. Where they are the system's, none may be needed: a machine
 * without a network can be well.
 */
export async function checkResolvers(
  { resolvers }: Pick<Config, 'resolvers'>,
  systemServers: () => DnsServer[] = systemDnsServers,
): Promise<Finding> {
  const servers = resolvers ?? systemServers();
  const faults = (await Promise.all(servers.map(whyUnusable))).filter((fault) => fault !== null);
  if (servers.length > faults.length) {
    return faults.length === 0
      ? ok(CHECK, `${named(servers)} ${servers.length === 1 ? 'answers' : 'answer'}.`)
      : warning(
          CHECK,
          `Of ${servers.length} DNS servers ${faults.length} cannot be used: ${faults.join('; ')}.`,
          resolvers === null
            ? 'Take it out of the resolvers of this machine (/etc/resolv.conf), or mend it: it slows every look-up.'
            : 'Take it out of HOMEPORT_RESOLVERS, or mend it: it slows every look-up.',
        );
  }
  if (resolvers === null) {
    return warning(
      CHECK,
      `No DNS server of this machine can be used${faults.length === 0 ? '' : `: ${faults.join('; ')}`}.`,
      'Without one no domain can be checked. Mend /etc/resolv.conf, or name DNS servers in HOMEPORT_RESOLVERS.',
    );
  }
  return problem(
    CHECK,
    `No DNS server of HOMEPORT_RESOLVERS can be used: ${faults.join('; ')}.`,
    'Name DNS servers that answer this machine in HOMEPORT_RESOLVERS; without one no domain can be checked.',
  );
}

/** Null if the server answers the question, even if by saying that there is no such name. */
async function whyUnusable(server: DnsServer): Promise<string | null> {
  try {
    const { rcode } = await askServer(server, QUESTION, {
      signal: AbortSignal.timeout(PATIENCE_MS),
      attemptMs: ATTEMPT_MS,
    });
    return rcode === 'NOERROR' || rcode === 'NXDOMAIN' ? null : `${hostAndPort(server)} answers ${rcode}`;
  } catch (error) {
    if (error instanceof DnsTimeout) return `${hostAndPort(server)} does not answer within 2 s`;
    if (!(error instanceof DnsUnreachable)) throw error;
    const code = codeOf(error.cause);
    return code === undefined
      ? `what answers at ${hostAndPort(server)} does not speak DNS`
      : `${hostAndPort(server)} cannot be reached (${code})`;
  }
}

function named(servers: DnsServer[]): string {
  return servers.map(hostAndPort).join(', ');
}
