import { askServer, type DnsAnswer } from './client.ts';
import { cnameOf } from './cname-chain.ts';
import type { AuthoritativeView } from './diagnosis.ts';
import { isAskable, isWithin } from './domain-name.ts';
import type { DnsRecord, RecordType } from './record.ts';
import { addressesOf, type DnsResolver } from './resolver.ts';

/** A name server of a zone. */
interface NameServer {
  name: string;
  /** Addresses from the parent zone; empty if the resolver must look them up. */
  glue: string[];
}

export interface AuthoritativeOptions {
  resolver: DnsResolver;
  signal: AbortSignal;
  mayContact: (address: string) => boolean;
  port: number;
  /** Record types to query; default A and AAAA. */
  types?: readonly RecordType[];
}

export interface AuthoritativeFindings {
  /** The zone of the name, after following delegations. */
  zone: string;
  ns: string[];
  /** Null if no server gave an authoritative answer. */
  view: AuthoritativeView | null;
  /** Names of servers that answered but do not serve the zone. */
  lame: string[];
  /** The authoritative answers of all servers. */
  answers: DnsAnswer[];
}

const MOST_SERVERS = 4;
const MOST_DELEGATIONS = 5;
const ADDRESS_TYPES: readonly RecordType[] = ['A', 'AAAA'];

/**
 * Queries the servers of a zone for a name, and follows delegations to zones below it. Queries at most four servers per
 * zone, and only at allowed addresses.
 */
export async function askAuthoritativeServers(
  name: string,
  zone: string,
  ns: string[],
  options: AuthoritativeOptions,
): Promise<AuthoritativeFindings> {
  let servers: NameServer[] = ns.map((server) => ({ name: server, glue: [] }));
  let current = zone;
  for (let delegations = 0; ; delegations++) {
    const replies = await Promise.all(
      servers.slice(0, MOST_SERVERS).map((server) => askNameServer(name, server, options)),
    );
    const referral = replies
      .map((reply) => referralOf(reply.answers, name, current))
      .find((one) => one !== null);
    if (!referral || delegations === MOST_DELEGATIONS) {
      return { zone: current, ns: servers.map((server) => server.name), ...judge(name, replies) };
    }
    current = referral.zone;
    servers = referral.servers;
  }
}

interface Reply {
  server: string;
  /** Empty if the server did not answer or may not be contacted. */
  answers: DnsAnswer[];
}

async function askNameServer(
  name: string,
  server: NameServer,
  { resolver, signal, mayContact, port, types = ADDRESS_TYPES }: AuthoritativeOptions,
): Promise<Reply> {
  for (const host of (await addressesOfServer(server, resolver, signal)).filter(mayContact).slice(0, 2)) {
    const asked = types.map((type) =>
      askServer({ host, port }, { name, type, recursive: false }, { signal }).catch(() => null),
    );
    const answers = (await Promise.all(asked)).filter((answer) => answer !== null);
    if (answers.length > 0) return { server: server.name, answers };
  }
  return { server: server.name, answers: [] };
}

async function addressesOfServer(
  { name, glue }: NameServer,
  resolver: DnsResolver,
  signal: AbortSignal,
): Promise<string[]> {
  if (glue.length > 0 || !isAskable(name)) return glue;
  // A server without a known address is skipped; the others are queried.
  return addressesOf(resolver, name, signal).catch(() => []);
}

/** A delegation of the name to a zone below `zone` (RFC 1034 section 4.3.2, 3b). */
function referralOf(
  answers: DnsAnswer[],
  name: string,
  zone: string,
): { zone: string; servers: NameServer[] } | null {
  for (const { rcode, authoritative, answers: records, authorities, additionals } of answers) {
    if (rcode !== 'NOERROR' || authoritative || records.length > 0) continue;
    const named = authorities.filter(
      (record) =>
        record.type === 'NS' &&
        isWithin(name, record.hdr.name) &&
        isWithin(record.hdr.name, zone) &&
        record.hdr.name !== zone,
    );
    const below = named[0]?.hdr.name;
    if (below === undefined) continue;
    const names = named.flatMap((record) =>
      record.type === 'NS' && record.hdr.name === below ? [record.target] : [],
    );
    return {
      zone: below,
      servers: names.map((server) => ({ name: server, glue: glueOf(server, additionals) })),
    };
  }
  return null;
}

function glueOf(server: string, additionals: DnsRecord[]): string[] {
  return additionals.flatMap((record) =>
    (record.type === 'A' || record.type === 'AAAA') && record.hdr.name === server ? [record.address] : [],
  );
}

function judge(name: string, replies: Reply[]): Pick<AuthoritativeFindings, 'view' | 'lame' | 'answers'> {
  const view: AuthoritativeView = { servers: [], cname: null, a: [], aaaa: [] };
  const lame: string[] = [];
  const authoritative: DnsAnswer[] = [];
  for (const { server, answers } of replies) {
    const valid = answers.filter(
      ({ rcode, authoritative }) => authoritative && (rcode === 'NOERROR' || rcode === 'NXDOMAIN'),
    );
    authoritative.push(...valid);
    if (valid.length > 0) view.servers.push(server);
    else if (answers.length > 0) lame.push(server);
    for (const answer of valid) {
      view.cname ??= cnameOf(answer, name)?.target ?? null;
      for (const record of answer.answers) {
        if (record.hdr.name !== name) continue;
        if (record.type === 'A') view.a.push(record.address);
        if (record.type === 'AAAA') view.aaaa.push(record.address);
      }
    }
  }
  view.a = [...new Set(view.a)];
  view.aaaa = [...new Set(view.aaaa)];
  return { view: view.servers.length > 0 ? view : null, lame, answers: authoritative };
}
