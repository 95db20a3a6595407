import { NXDOMAIN, reply, startFakeDnsServer } from '../../../network/dns/fake-dns-server.fixture.ts';

/** A resolver that knows only the TXT records that a test sets. */
export interface ChallengeDns {
  /** For `HOMEPORT_RESOLVERS`. */
  address: string;
  /** By name, in lower case. */
  texts: Map<string, string[]>;
  /** How often a name was queried. */
  asked(name: string): number;
  close(): Promise<void>;
}

export async function startChallengeDns(): Promise<ChallengeDns> {
  const texts = new Map<string, string[]>();
  const server = await startFakeDnsServer((query) => {
    const values = query.type === 'TXT' ? texts.get(query.name.toLowerCase()) : undefined;
    if (values === undefined) return [reply(query, [], NXDOMAIN)];
    // RFC 1035 section 3.3.14: one or more strings of at most 255 octets.
    const records = values.map((value) => value.match(/.{1,255}/gs) ?? ['']);
    return [
      reply(
        query,
        records.map((data) => ({ type: 'TXT', name: query.name, data })),
      ),
    ];
  });
  return {
    address: `${server.host}:${server.port}`,
    texts,
    asked: (name) => server.queries.filter((query) => query.type === 'TXT' && query.name === name).length,
    close: () => server.close(),
  };
}
