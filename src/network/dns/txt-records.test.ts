import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DnsTestServers, findDnsServers, startDnsServers } from '../../../test/servers/dns-server.ts';
import { AA, NXDOMAIN, REFUSED, reply, SERVFAIL, startFakeDnsServer } from './fake-dns-server.fixture.ts';
import { createDnsResolver } from './resolver.ts';
import { lookUpTxtRecords } from './txt-records.ts';

const NAME = '_homeport-challenge.shop.example';
const signal = () => AbortSignal.timeout(10_000);

describe.skipIf(!findDnsServers())('with real DNS servers', () => {
  let dns: DnsTestServers;
  beforeAll(async () => {
    dns = await startDnsServers({ zones: { 'shop.example': '@ A 127.0.0.1' } });
  });
  afterAll(() => dns?.remove());

  const texts = (name = NAME) =>
    lookUpTxtRecords(name, {
      resolver: createDnsResolver([dns.resolver]),
      mayContact: () => true,
      authoritativePort: dns.authority.port,
      signal: signal(),
    });

  it('reads several records, joined strings and upper case', async () => {
    await dns.setZone('shop.example', `_HOMEPORT-challenge TXT "one" "two"\n_homeport-challenge TXT "other"`);
    expect((await texts())?.sort()).toEqual(['onetwo', 'other']);
    expect((await texts(NAME.toUpperCase()))?.sort()).toEqual(['onetwo', 'other']);
  });

  it('reads a record longer than one string and one packet', async () => {
    const long = Array.from({ length: 12 }, (_, index) => `"${String(index % 10).repeat(250)}"`).join(' ');
    await dns.setZone('shop.example', `_homeport-challenge TXT ${long}\n_homeport-challenge TXT "short"`);
    expect(await texts()).toContain('short');
  });

  it('sees a change at once, even if the resolver has cached records', async () => {
    await dns.setZone('shop.example', '_homeport-challenge TXT "old"');
    await createDnsResolver([dns.resolver]).resolve(NAME, 'TXT', signal());
    await dns.setZone('shop.example', '_homeport-challenge TXT "new"', { keepCache: true });
    expect(await texts()).toEqual(['new']);
  });

  it('follows neither a CNAME nor a wildcard CNAME', async () => {
    await dns.setZone('elsewhere.example', '@ TXT "theirs"');
    await dns.setZone('shop.example', '_homeport-challenge CNAME elsewhere.example.');
    expect(await texts()).toEqual([]);
    await dns.setZone('shop.example', '* CNAME elsewhere.example.');
    expect(await texts()).toEqual([]);
  });

  it('finds the servers of a zone to which the challenge is delegated', async () => {
    await dns.setZone('_homeport-challenge.shop.example', '@ TXT "delegated"');
    await dns.setZone(
      'shop.example',
      '_homeport-challenge NS ns1._homeport-challenge.shop.example.\nns1._homeport-challenge A 127.0.0.1',
    );
    expect(await texts()).toEqual(['delegated']);
    await dns.removeZone('_homeport-challenge.shop.example');
  });

  it('returns an empty list for a name without records', async () => {
    await dns.setZone('shop.example', '@ A 127.0.0.1');
    expect(await texts()).toEqual([]);
  });
});

describe('with a server that answers', () => {
  /** One server is both the resolver and the only server of the zone. */
  async function textsFrom(txt: (query: Parameters<Parameters<typeof startFakeDnsServer>[0]>[0]) => Buffer) {
    const server = await startFakeDnsServer((query) => {
      if (query.type === 'TXT') return [txt(query)];
      if (query.type === 'SOA') {
        const data = { mname: 'ns.shop.example', rname: 'root.shop.example' };
        return [reply(query, [{ type: 'SOA', name: 'shop.example', data }])];
      }
      if (query.type === 'NS')
        return [reply(query, [{ type: 'NS', name: 'shop.example', data: 'ns.shop.example' }])];
      if (query.type === 'A') return [reply(query, [{ type: 'A', name: query.name, data: '127.0.0.1' }])];
      return [reply(query)];
    });
    try {
      return await lookUpTxtRecords(NAME, {
        resolver: createDnsResolver([server]),
        mayContact: () => true,
        authoritativePort: server.port,
        signal: signal(),
      });
    } finally {
      await server.close();
    }
  }

  it('with a record of another name: ignores it', async () => {
    expect(
      await textsFrom((query) => reply(query, [{ type: 'TXT', name: 'shop.example', data: 'no' }], AA)),
    ).toEqual([]);
  });

  it('without authority: uses the resolver', async () => {
    expect(await textsFrom((query) => reply(query, [{ type: 'TXT', name: NAME, data: 'yes' }]))).toEqual([
      'yes',
    ]);
  });

  it.each([
    ['SERVFAIL', SERVFAIL],
    ['REFUSED', REFUSED],
  ])('%s: returns null', async (_, rcode) => {
    expect(await textsFrom((query) => reply(query, [], rcode))).toBeNull();
  });

  it('NXDOMAIN: returns an empty list', async () => {
    expect(await textsFrom((query) => reply(query, [], NXDOMAIN))).toEqual([]);
  });
});

it('sends no query for an invalid name', async () => {
  const resolver = createDnsResolver([]);
  const options = { resolver, mayContact: () => true, signal: signal() };
  expect(await lookUpTxtRecords(`_homeport-challenge.${'a'.repeat(64)}.example`, options)).toBeNull();
  expect(await lookUpTxtRecords('_homeport-challenge.localhost', options)).toBeNull();
});
