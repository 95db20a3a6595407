import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type DnsTestServers, findDnsServers, startDnsServers } from '../../../test/servers/dns-server.ts';
import {
  AA,
  type Behaviour,
  type FakeDnsServer,
  REFUSED,
  reply,
  SERVFAIL,
  startFakeDnsServer,
} from './fake-dns-server.fixture.ts';
import { type LookUpOptions, lookUp, type NameFindings } from './look-up.ts';
import { addressesOf, createDnsResolver, NameNotResolved, systemDnsServers } from './resolver.ts';

const ZONE = `
@ MX 20 mx2
@ MX 10 mx1
@ TXT "v=spf1 " "-all"
@ CAA 0 issue "ca.test"
@ A 192.0.2.1
www CNAME site
site 120 A 192.0.2.10
site 120 AAAA 2001:db8::10
own CAA 0 issue "own.test"
own A 192.0.2.11
c1 CNAME c2
c2 CNAME c1
gone CNAME nowhere
mailonly MX 10 mx1
toempty CNAME mailonly
*.wild A 192.0.2.12
*.wild TXT "for all"
lame NS ns.lame
ns.lame A 127.0.0.1
`;

const fakes: FakeDnsServer[] = [];

afterEach(async () => {
  for (const fake of fakes.splice(0)) await fake.close();
});

async function fakeServer(behaviour: Behaviour): Promise<FakeDnsServer> {
  const fake = await startFakeDnsServer(behaviour);
  fakes.push(fake);
  return fake;
}

describe.skipIf(!findDnsServers())('lookUp', () => {
  let dns: DnsTestServers;

  beforeAll(async () => {
    dns = await startDnsServers({ zones: { 'example.test': ZONE } });
  });

  afterAll(() => dns?.remove());

  function find(name: string, more: Partial<LookUpOptions> = {}): Promise<NameFindings> {
    return lookUp(name, {
      resolver: createDnsResolver([dns.resolver]),
      signal: AbortSignal.timeout(5000),
      mayContact: (address) => address === '127.0.0.1',
      authoritativePort: dns.authority.port,
      ...more,
    });
  }

  it('finds all records of a name, and those at the zone’s servers', async () => {
    const found = await find('Example.TEST.');
    expect(found).toMatchObject({
      name: 'example.test',
      zone: 'example.test',
      ns: ['ns1.example.test'],
      mx: [
        { exchange: 'mx1.example.test', preference: 10 },
        { exchange: 'mx2.example.test', preference: 20 },
      ],
      txt: ['v=spf1 -all'],
      authoritative: { servers: ['ns1.example.test'], cname: null, a: ['192.0.2.1'], aaaa: [] },
      staleSeconds: null,
      caaFailed: false,
      problem: null,
    });
    expect(found.a.map(({ address }) => address)).toEqual(['192.0.2.1']);
    expect(found.soa).toMatchObject([
      { ns: 'ns1.example.test', mbox: 'hostmaster.example.test', minttl: 60 },
    ]);
    expect(found.caa).toMatchObject([{ flag: 0, tag: 'issue', value: 'ca.test' }]);
  });

  it('follows a CNAME, and takes zone and CAA from the parent', async () => {
    const found = await find('www.example.test');
    expect(found).toMatchObject({
      cnames: ['site.example.test'],
      a: [{ address: '192.0.2.10', hdr: { ttl: 120, rdlength: 4 } }],
      aaaa: [{ address: '2001:db8::10', hdr: { rrtype: 28, rdlength: 16 } }],
      zone: 'example.test',
      caa: [{ value: 'ca.test' }],
      authoritative: { cname: 'site.example.test' },
      problem: null,
    });
    expect((await find('own.example.test')).caa).toMatchObject([{ value: 'own.test' }]);
  });

  it('looks up the wildcard itself', async () => {
    const found = await find('*.wild.example.test');
    expect(found).toMatchObject({
      a: [{ address: '192.0.2.12' }],
      txt: ['for all'],
      caa: [{ value: 'ca.test' }],
      problem: null,
    });
  });

  it.each([
    ['nothing.example.test', { kind: 'nxdomain', name: 'nothing.example.test', unregistered: false }],
    ['www.not-there.test', { kind: 'nxdomain', name: 'www.not-there.test', unregistered: true }],
    ['not-there.test', { kind: 'nxdomain', name: 'not-there.test', unregistered: true }],
    ['gone.example.test', { kind: 'dangling_cname', target: 'nowhere.example.test' }],
    ['toempty.example.test', { kind: 'dangling_cname', target: 'mailonly.example.test' }],
    ['mailonly.example.test', { kind: 'no_address' }],
    [
      'c1.example.test',
      { kind: 'cname_loop', names: ['c1.example.test', 'c2.example.test', 'c1.example.test'] },
    ],
    [`${'a'.repeat(64)}.test`, { kind: 'nxdomain', name: `${'a'.repeat(64)}.test`, unregistered: false }],
  ])('says what is wrong with %s', async (name, problem) => {
    expect((await find(name)).problem).toEqual(problem);
  });

  it('does not report the registry as the zone of an unregistered name', async () => {
    expect(await find('www.not-there.test')).toMatchObject({ zone: null, ns: [], soa: [] });
  });

  it('distinguishes a lame delegation from a failing zone', async () => {
    const failing = await fakeServer((query) => {
      if (query.name.endsWith('lame.example.test')) return [reply(query, [], SERVFAIL)];
      const soa = { mname: 'ns1.example.test', rname: 'x.example.test' };
      if (query.type === 'SOA' || query.type === 'CAA') {
        return [
          reply(query, [], 0, { authorities: [{ type: 'SOA', name: 'example.test', ttl: 1, data: soa }] }),
        ];
      }
      if (query.type === 'NS') {
        return [reply(query, [{ type: 'NS', name: query.name, ttl: 1, data: 'ns1.example.test' }])];
      }
      return [
        reply(query, query.type === 'A' ? [{ type: 'A', name: query.name, ttl: 1, data: '127.0.0.1' }] : []),
      ];
    });
    const found = await find('www.lame.example.test', { resolver: createDnsResolver([failing]) });
    expect(found).toMatchObject({
      zone: 'lame.example.test',
      ns: ['ns.lame.example.test'],
      authoritative: null,
      caaFailed: true,
      problem: { kind: 'lame', zone: 'lame.example.test', servers: ['ns.lame.example.test'] },
    });
    // If servers may not be contacted, only the resolver's answer counts.
    const blind = { resolver: createDnsResolver([failing]), mayContact: () => false };
    expect((await find('www.lame.example.test', blind)).problem).toMatchObject({ kind: 'servfail' });
  });

  it('sees a CNAME at the apex of a zone', async () => {
    const wrong = await fakeServer((query) => {
      const cname = { type: 'CNAME' as const, name: 'apex.test', ttl: 60, data: 'site.example.test' };
      const address = { type: 'A' as const, name: 'site.example.test', ttl: 60, data: '192.0.2.10' };
      const soa = { mname: 'ns1.apex.test', rname: 'x.apex.test' };
      if (query.type === 'SOA' && query.name === 'apex.test') return [reply(query, [cname])];
      if (query.type === 'SOA') {
        return [reply(query, [], 0, { authorities: [{ type: 'SOA', name: 'test', ttl: 1, data: soa }] })];
      }
      if (query.type === 'NS' && query.name === 'test') {
        return [reply(query, [{ type: 'NS', name: 'test', ttl: 1, data: 'ns1.nic.test' }])];
      }
      if (query.name === 'ns1.nic.test' && query.type === 'A') {
        return [reply(query, [{ type: 'A', name: 'ns1.nic.test', ttl: 1, data: '127.0.0.1' }])];
      }
      return [
        reply(query, query.name === 'apex.test' ? [cname, ...(query.type === 'A' ? [address] : [])] : []),
      ];
    });
    let asked = 0;
    const registry = await fakeServer((query) => {
      // The registry delegates to a server at the same address.
      if (asked++ < 2) {
        const authorities = [{ type: 'NS' as const, name: 'apex.test', ttl: 1, data: 'ns1.apex.test' }];
        const additionals = [{ type: 'A' as const, name: 'ns1.apex.test', ttl: 1, data: '127.0.0.1' }];
        return [reply(query, [], 0, { authorities, additionals })];
      }
      return [reply(query, [{ type: 'CNAME', name: 'apex.test', ttl: 1, data: 'site.example.test' }], AA)];
    });
    const options = { resolver: createDnsResolver([wrong]), authoritativePort: registry.port };
    expect(await find('apex.test', options)).toMatchObject({
      zone: 'apex.test',
      ns: ['ns1.apex.test'],
      authoritative: { servers: ['ns1.apex.test'], cname: 'site.example.test' },
      problem: { kind: 'cname_at_apex', target: 'site.example.test' },
    });
  });

  it('reports how long the resolver keeps outdated records', async () => {
    await dns.setZone('stale.test', 'www 200 A 192.0.2.1');
    const before = await find('www.stale.test');
    expect(before.staleSeconds).toBeNull();
    await find('new.stale.test');
    await dns.setZone('stale.test', 'www 200 CNAME site.example.test.\nnew A 192.0.2.3', { keepCache: true });
    const after = await find('www.stale.test');
    expect(after.authoritative).toMatchObject({ cname: 'site.example.test', a: [] });
    expect(after.a).toMatchObject([{ address: '192.0.2.1' }]);
    expect(after.staleSeconds).toBeGreaterThan(150);
    expect(after.staleSeconds).toBeLessThanOrEqual(200);
    // Negative answers are cached, too.
    const added = await find('new.stale.test');
    expect(added).toMatchObject({ problem: { kind: 'nxdomain' }, authoritative: { a: ['192.0.2.3'] } });
    expect(added.staleSeconds).toBeGreaterThan(0);
    await dns.removeZone('stale.test');
  });

  it('sends nothing to a name server at a forbidden address', async () => {
    const asked: string[] = [];
    const mayContact = (address: string) => {
      asked.push(address);
      return false;
    };
    expect(await find('www.example.test', { mayContact })).toMatchObject({
      authoritative: null,
      problem: null,
    });
    expect(asked).toEqual(['127.0.0.1']);
  });

  it('reports partial findings, and stops with the signal', async () => {
    const progress: NameFindings[] = [];
    await find('example.test', { onProgress: (findings) => progress.push(findings) });
    expect(progress.length).toBeGreaterThan(3);
    expect(progress.at(-1)?.authoritative).not.toBeNull();

    // Address queries get no answer; all others do.
    const half = await fakeServer((query) => {
      if (query.type === 'A' || query.type === 'AAAA') return [];
      return [
        reply(query, query.type === 'TXT' ? [{ type: 'TXT', name: query.name, ttl: 1, data: 'seen' }] : []),
      ];
    });
    const enough = new AbortController();
    const found = await find('example.test', {
      resolver: createDnsResolver([half]),
      signal: enough.signal,
      onProgress: ({ txt }) => {
        if (txt.length > 0) enough.abort(new DOMException('that is enough', 'TimeoutError'));
      },
    });
    expect(found).toMatchObject({ txt: ['seen'], a: [], problem: { kind: 'timeout' } });
  });

  it('reports that no resolver can be reached', async () => {
    const gone = await startFakeDnsServer(() => []);
    await gone.close();
    const found = await find('example.test', { resolver: createDnsResolver([gone]) });
    expect(found).toMatchObject({ problem: { kind: 'unreachable' }, caaFailed: true, zone: null });
  });

  it('sends no query for localhost', async () => {
    const server = await fakeServer(() => []);
    const found = await find('site.localhost', { resolver: createDnsResolver([server]) });
    expect(found).toMatchObject({ a: [{ address: '127.0.0.1' }], aaaa: [{ address: '::1' }], problem: null });
    expect(server.queries).toEqual([]);
  });

  it('addressesOf follows CNAMEs to addresses, or says why there are none', async () => {
    const resolver = createDnsResolver([dns.resolver]);
    const signal = AbortSignal.timeout(20_000);
    expect(await addressesOf(resolver, 'WWW.example.test', signal)).toEqual(['192.0.2.10', '2001:db8::10']);
    expect(await addressesOf(resolver, 'mailonly.example.test', signal)).toEqual([]);
    expect(await addressesOf(resolver, 'a.localhost', signal)).toEqual(['127.0.0.1', '::1']);
    const gone = addressesOf(resolver, 'nothing.example.test', signal);
    await expect(gone).rejects.toThrow(NameNotResolved);
    await expect(gone).rejects.toThrow('nothing.example.test does not exist.');
  });

  it('queries the next resolver if one fails', async () => {
    const refusing = await fakeServer((query) => [reply(query, [], REFUSED)]);
    const resolver = createDnsResolver([refusing, dns.resolver]);
    const signal = AbortSignal.timeout(20_000);
    expect(await resolver.resolve('example.test', 'A', signal)).toMatchObject({
      rcode: 'NOERROR',
      server: dns.resolver,
    });
    expect(await createDnsResolver([refusing]).resolve('example.test', 'A', signal)).toMatchObject({
      rcode: 'REFUSED',
    });
  });
});

it('lists the resolvers of the machine by address and port', () => {
  for (const { host, port } of systemDnsServers()) {
    expect(host).not.toMatch(/[[\]]/);
    expect(port).toBeGreaterThan(0);
  }
});
