import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { askServer } from '../../src/network/dns/client.ts';
import { type DnsTestServers, findDnsServers, startDnsServers } from './dns-server.ts';

describe.skipIf(!findDnsServers())('DNS servers for tests', () => {
  let dns: DnsTestServers;

  beforeAll(async () => {
    dns = await startDnsServers({ zones: { 'example.test': 'www A 127.0.0.2' } });
  });

  afterAll(() => dns?.remove());

  async function addresses(name: string): Promise<string[] | string> {
    const signal = AbortSignal.timeout(20_000);
    const answer = await askServer(dns.resolver, { name, type: 'A', recursive: true }, { signal });
    if (answer.rcode !== 'NOERROR') return answer.rcode;
    return answer.answers.flatMap((record) => (record.type === 'A' ? [record.address] : []));
  }

  it('resolves the zones that it was started with, and keeps to this machine for the others', async () => {
    expect(await addresses('www.example.test')).toEqual(['127.0.0.2']);
    expect(await addresses('www.example.com')).toBe('NXDOMAIN');
  });

  it('replaces a zone at once, unless the cache is to stay', async () => {
    await dns.setZone('change.test', 'www A 127.0.0.3');
    expect(await addresses('www.change.test')).toEqual(['127.0.0.3']);
    await dns.setZone('change.test', 'www A 127.0.0.4', { keepCache: true });
    expect(await addresses('www.change.test')).toEqual(['127.0.0.3']);
    await dns.setZone('change.test', 'www A 127.0.0.5');
    expect(await addresses('www.change.test')).toEqual(['127.0.0.5']);
    await dns.removeZone('change.test');
    expect(await addresses('www.change.test')).toBe('NXDOMAIN');
  });

  it('takes a whole zone file, and says what is wrong with one', async () => {
    const soa =
      '@ 60 IN SOA ns.own.test. me.own.test. 7 1 1 1 1\n@ 60 IN NS ns.own.test.\nns 60 IN A 127.0.0.1\n';
    await dns.setZone('own.test', `${soa}www 60 IN A 127.0.0.6`);
    expect(await addresses('www.own.test')).toEqual(['127.0.0.6']);
    await expect(dns.setZone('own.test', `${soa}www A no-address`)).rejects.toThrow(
      /zone-reload[\s\S]*invalid address/,
    );
  });
});
