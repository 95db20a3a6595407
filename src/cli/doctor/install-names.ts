import type { Config } from '../../config/config.ts';
import type { Database, Queries } from '../../database/database.ts';
import { type InstallName, installNames } from '../../features/hosts/install-names.ts';
import { parseIpAddress } from '../../features/hosts/ip-address.ts';
import { allHosts } from '../../features/hosts/store.ts';
import { mapConcurrent } from '../../lib/concurrency.ts';
import { isUnknown } from '../../network/dns/dns-problem.ts';
import { isLocalhost } from '../../network/dns/domain-name.ts';
import {
  addressesOf,
  createDnsResolver,
  NameNotResolved,
  systemDnsServers,
} from '../../network/dns/resolver.ts';
import { type Finding, ok, problem, warning } from './finding.ts';

const CHECK = 'install names';
/** `most` names are looked up. The newest come first, because their records may be missing. */
const LIMITS = { most: 500, patienceMs: 5_000 };
const AT_ONCE = 32;
/** Number that is named; the others are counted. */
const NAMED = 3;

type NamesConfig = Parameters<typeof installNames>[1] & Pick<Config, 'resolvers'>;

/** Checks that the default domain of each install, and the CNAMEs to it, lead to the host that serves it. */
export async function checkInstallNames(
  { reader }: Pick<Database, 'reader'>,
  config: NamesConfig,
  { most, patienceMs } = LIMITS,
): Promise<Finding[]> {
  const shared = await checkSharedAddresses(reader, config);
  if (isLocalhost(config.siteDomain)) {
    return [
      ...shared,
      ok(CHECK, `They are below ${config.siteDomain}, so only this machine can reach them.`),
    ];
  }
  const names = (await installNames(reader, config)).map((one) => ({
    ...one,
    addresses: one.addresses.map(canonical),
  }));
  if (names.length === 0) return [...shared, ok(CHECK, 'There are none yet.')];
  const own = new Set(names.flatMap(({ addresses }) => addresses));
  const resolver = createDnsResolver(config.resolvers ?? systemDnsServers());
  const signal = AbortSignal.timeout(patienceMs);
  const sights = await mapConcurrent(names.slice(0, most), AT_ONCE, async (one) => {
    const found = await lookUp(one.name);
    return { ...one, found, verdict: judge(one, found, own) };
  });
  return [...shared, ...judgeAll(sights, { total: names.length, siteDomain: config.siteDomain, patienceMs })];

  /** Null if it is unknown. */
  async function lookUp(name: string): Promise<string[] | null> {
    if (signal.aborted) return null;
    try {
      return (await addressesOf(resolver, name, signal)).map(canonical);
    } catch (error) {
      if (!(error instanceof NameNotResolved)) throw error;
      return isUnknown(error.problem) ? null : [];
    }
  }
}

/** Hosts with the same addresses need a load balancer in front of them. */
async function checkSharedAddresses(queries: Queries, { host }: Pick<Config, 'host'>): Promise<Finding[]> {
  if (host === 'embedded') return [];
  const hosts = await allHosts(queries);
  const without = hosts.filter(({ edge_addresses }) => edge_addresses.length === 0);
  const [first] = without;
  if (hosts.length < 2 || first === undefined) return [];
  return [
    warning(
      CHECK,
      `There are ${hosts.length} hosts, and ${listed(without.map(({ name }) => name))} ` +
        `${without.length === 1 ? 'has' : 'have'} no edge addresses, so customers see those of HOMEPORT_EDGE_ADDRESSES, whichever host ` +
        'serves their website.',
      `homeport host change ${first.name} --edge-address <ip>. With a load balancer in front, use its addresses.`,
    ),
  ];
}

type Verdict = 'right' | 'astray' | 'missing' | 'elsewhere' | 'untold' | 'unknown';

/** Judges where a name leads. `own`: the addresses of all hosts. */
function judge({ addresses }: InstallName, found: string[] | null, own: ReadonlySet<string>): Verdict {
  if (found === null) return 'unknown';
  if (found.length === 0) return 'missing';
  if (addresses.length === 0) return 'untold';
  const others = found.filter((address) => !addresses.includes(address));
  if (others.some((address) => own.has(address))) return 'astray';
  return others.length > 0 ? 'elsewhere' : 'right';
}

interface SeenName extends InstallName {
  /** Null if it is unknown. */
  found: string[] | null;
  verdict: Verdict;
}

/** The sentence and the fix for the names of one verdict. */
interface Words {
  finding: typeof problem;
  said: (count: number, patienceMs: number) => string;
  named: (seen: SeenName) => string;
  remedy: (siteDomain: string) => string;
}

const RECORDS = 'Set the records of "homeport host records" in the DNS of';
const leads = ({ name, found }: SeenName) => `${name} (to ${(found ?? []).join(', ')})`;

const WORDS: Record<Exclude<Verdict, 'right'>, Words> = {
  astray: {
    finding: problem,
    said: (count) => `${count === 1 ? 'leads' : 'lead'} to a host that does not serve it`,
    named: ({ name, found, host }) =>
      `${name} (to ${(found ?? []).join(', ')}, is on ${host ?? 'this machine'})`,
    remedy: (siteDomain) => `${RECORDS} ${siteDomain}. A wildcard record leads all other names to one host.`,
  },
  missing: {
    finding: problem,
    said: (count) => `${count === 1 ? 'has' : 'have'} no address in the DNS`,
    named: ({ name }) => name,
    remedy: (siteDomain) =>
      `${RECORDS} ${siteDomain}, or a wildcard record *.${siteDomain} if one host serves all.`,
  },
  elsewhere: {
    finding: warning,
    said: (count) => `${count === 1 ? 'leads' : 'lead'} to an unknown address`,
    named: leads,
    remedy: (siteDomain) =>
      `${RECORDS} ${siteDomain}. If the addresses there are right, add them with HOMEPORT_EDGE_ADDRESSES or "homeport host change".`,
  },
  untold: {
    finding: warning,
    said: (count) => `${count === 1 ? 'leads' : 'lead'} to addresses that cannot be checked`,
    named: leads,
    remedy: () => 'Set the addresses of the edge with HOMEPORT_EDGE_ADDRESSES or "homeport host change".',
  },
  unknown: {
    finding: warning,
    said: (_, patienceMs) => `could not be looked up within ${patienceMs / 1000} s`,
    named: ({ name }) => name,
    remedy: () => 'Check the resolvers, then run doctor again.',
  },
};

function judgeAll(
  sights: SeenName[],
  { total, siteDomain, patienceMs }: { total: number; siteDomain: string; patienceMs: number },
): Finding[] {
  const all =
    sights.length === total
      ? `${total} names of installs`
      : `the ${sights.length} newest of ${total} names of installs`;
  const findings = Object.entries(WORDS).flatMap(([verdict, { finding, said, named, remedy }]) => {
    const those = sights.filter((seen) => seen.verdict === verdict);
    if (those.length === 0) return [];
    const message = `${those.length} of ${all} ${said(those.length, patienceMs)}: ${listed(those.map(named))}.`;
    return [finding(CHECK, message, remedy(siteDomain))];
  });
  return findings.length > 0 ? findings : [ok(CHECK, `All of ${all} lead to the host that serves them.`)];
}

/** One address is written in many ways in IPv6. */
function canonical(address: string): string {
  return parseIpAddress(address) ?? address;
}

function listed(texts: string[]): string {
  const shown = texts.slice(0, NAMED).join(', ');
  return texts.length > NAMED ? `${shown} and ${texts.length - NAMED} more` : shown;
}
