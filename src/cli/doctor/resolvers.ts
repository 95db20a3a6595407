import type { Config } from '../../config/config.ts';
import { codeOf } from '../../lib/error-code.ts';
import { hostAndPort } from '../../lib/host-and-port.ts';
import { askServer, type DnsServer, DnsTimeout, DnsUnreachable } from '../../network/dns/client.ts';
import { systemDnsServers } from '../../network/dns/resolver.ts';
import { type Finding, ok, problem, warning } from './finding.ts';

const CHECK = 'resolvers';
const PATIENCE_MS = 2_000;
/** A query is repeated once in this time. */
const ATTEMPT_MS = 900;
/** A top-level domain that always exists (RFC 3172). A private root may answer "no such name", which counts too. */
const QUESTION = { name: 'arpa', type: 'NS', recursive: true } as const;

/**
 * Checks that the DNS servers of domain checks answer. Silent system resolvers are only a warning, because a machine
 * without a network may need none.
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
            ? 'Remove it from the resolvers of this machine (/etc/resolv.conf), or fix it: it slows down every lookup.'
            : 'Remove it from HOMEPORT_RESOLVERS, or fix it: it slows down every lookup.',
        );
  }
  if (resolvers === null) {
    return warning(
      CHECK,
      `No DNS server of this machine can be used${faults.length === 0 ? '' : `: ${faults.join('; ')}`}.`,
      'Domains cannot be checked without one. Fix /etc/resolv.conf, or name DNS servers in HOMEPORT_RESOLVERS.',
    );
  }
  return problem(
    CHECK,
    `No DNS server of HOMEPORT_RESOLVERS can be used: ${faults.join('; ')}.`,
    'Name DNS servers that answer this machine in HOMEPORT_RESOLVERS. Domains cannot be checked without one.',
  );
}

/** Null if the server answers, even with "no such name". */
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
