import type { RequestListener } from 'node:http';
import ipaddr from 'ipaddr.js';
import { afterEach, describe, expect, test } from 'vitest';
import { silent } from '../../../test/database.ts';
import { systemClock } from '../../lib/clock.ts';
import { createAddressPolicy } from './address-policy.ts';
import {
  fakeResolver,
  never,
  type ProberConditions,
  proberWith,
  removeServers,
  serve,
  serveRaw,
  url,
} from './prober.fixture.ts';
import { createProber, ProbeFailure, type Target } from './prober.ts';
import { followRedirects as followWith } from './redirect-chain.ts';

afterEach(removeServers);

/** Redirects by path: `/1` leads to the value of `/1`. */
function redirects(to: Record<string, string>): RequestListener {
  return (request, response) => {
    const location = to[request.url ?? ''];
    if (location === undefined) response.end('arrived');
    else response.writeHead(302, { location }).end();
  };
}

describe('following redirects', () => {
  async function follow(to: Record<string, string>, circumstances: ProberConditions = {}) {
    const port = await serve(redirects(to));
    return proberWith({ ports: { http: port }, ...circumstances }).follow(url(), never);
  }

  test('ends at the first other response, across hosts and relative URLs', async () => {
    const result = await follow(
      { '/': 'http://other.example/a/b', '/a/b': 'c#part' },
      { names: { 'site.example': [['127.0.0.1']], 'other.example': [['127.0.0.1']] } },
    );
    expect(result.urls).toEqual([
      'http://site.example/',
      'http://other.example/a/b',
      'http://other.example/a/c',
    ]);
    expect(result.last).toMatchObject({ status: 200, body: 'arrived' });
    expect(result.failure).toBeNull();
  });

  test('reads raw UTF-8 URLs as browsers do, and quotes them', async () => {
    const raw = (text: string) => Buffer.from(text).toString('latin1');
    const names = { 'site.example': [['127.0.0.1']], 'xn--mnchen-3ya.example': [['127.0.0.1']] };
    const { urls, last } = await follow({ '/': raw('http://münchen.example/grüße?ä') }, { names });
    expect(urls[1]).toBe('http://xn--mnchen-3ya.example/gr%C3%BC%C3%9Fe?%C3%A4');
    expect(last?.body).toBe('arrived');
    const { failure } = await follow({ '/': raw('http://[grüße') });
    expect(failure?.message).toContain('redirects to "http://[grüße"');
  });

  const chain = (length: number) =>
    Object.fromEntries(Array.from({ length }, (_, at) => [at === 0 ? '/' : `/${at}`, `/${at + 1}`]));

  test('follows at most 10 redirects', async () => {
    const ten = await follow(chain(10));
    expect(ten.failure).toBeNull();
    expect(ten.urls).toHaveLength(11);
    const eleven = await follow(chain(11));
    expect(eleven.failure?.problem).toBe('too_many_redirects');
    expect(eleven.urls).toHaveLength(11);
    expect(eleven.last?.status).toBe(302);
  });

  test('names a loop', async () => {
    const result = await follow({ '/': '/a', '/a': '/b', '/b': '/a#again' });
    expect(result.failure?.problem).toBe('redirect_loop');
    expect(result.failure?.message).toContain(
      'http://site.example/a → http://site.example/b → http://site.example/a',
    );
    expect(result.urls).toHaveLength(3);
  });

  test.each([
    'http://127.0.0.2/',
    'http://10.0.0.1/',
    'http://[::ffff:127.0.0.2]/',
    'http://[::1]/',
    'http://0x7f.0.0.2/',
    'http://2130706434/',
    'http://169.254.169.254/latest/meta-data/',
    'http://inside.example/',
  ])('never leads to %s', async (location) => {
    const reached: string[] = [];
    const inside = await serve(
      (request, response) => {
        reached.push(request.url ?? '');
        response.end('secret');
      },
      { address: '127.0.0.2' },
    );
    const port = await serve(redirects({ '/': location }));
    const prober = createProber({
      resolver: fakeResolver({ 'site.example': [['127.0.0.1']], 'inside.example': [['127.0.0.2']] }),
      policy: createAddressPolicy([ipaddr.parseCIDR('127.0.0.1/32')]),
      clock: systemClock,
      extraRoots: [],
      log: silent,
      portsOf: (address) => ({ http: address === '127.0.0.1' ? port : inside, https: 1 }),
    });
    const result = await prober.follow(url(), never);
    expect(result.failure?.problem).toBe('private_address');
    expect(result.failure?.message).toContain(new URL(location).href);
    expect(result.last?.status).toBe(302);
    expect(result.urls).toEqual(['http://site.example/']);
    expect(reached).toEqual([]);
  });

  test('never leads to this machine by the name localhost', async () => {
    const port = await serve(redirects({}));
    const prober = createProber({
      resolver: fakeResolver({ 'site.example': [['127.0.0.1']] }),
      policy: createAddressPolicy([]),
      clock: systemClock,
      extraRoots: [],
      log: silent,
      portsOf: () => ({ http: port, https: 1 }),
    });
    const result = await prober.follow(url('http://localhost/'), never);
    expect(result.failure?.problem).toBe('private_address');
    expect(result.last).toBeNull();
  });

  test('resolves the name once at each hop, and refuses one that becomes private', async () => {
    const resolver = fakeResolver({ 'site.example': [['127.0.0.1'], ['127.0.0.2']] });
    const port = await serve(redirects({ '/': '/again' }));
    const result = await proberWith({ ports: { http: port }, resolver }).follow(url(), never);
    expect(result.failure?.problem).toBe('private_address');
    expect(result.failure?.message).toContain('http://site.example/again leads to 127.0.0.2');
    expect(resolver.asked).toEqual(['site.example', 'site.example']);
  });

  test('connects to the checked address, even if the name has changed', async () => {
    const resolver = fakeResolver({ 'site.example': [['127.0.0.1'], ['127.0.0.2']] });
    const port = await serve((_request, response) => response.end('the checked one'));
    const result = await proberWith({ ports: { http: port }, resolver }).follow(url(), never);
    expect(result.last?.body).toBe('the checked one');
    expect(resolver.asked).toEqual(['site.example']);
  });

  test('begins at the given address, without a look-up', async () => {
    const resolver = fakeResolver({});
    const port = await serve(redirects({}));
    const prober = proberWith({ ports: { http: port }, resolver });
    expect((await prober.follow(url(), never, { address: '127.0.0.1' })).last?.body).toBe('arrived');
    const elsewhere = await prober.follow(url(), never, { address: '127.0.0.2' });
    expect(elsewhere.failure?.problem).toBe('private_address');
    expect(elsewhere.urls).toEqual([]);
    expect(resolver.asked).toEqual([]);
  });

  test('tries the next allowed address of a name', async () => {
    const port = await serve(redirects({}));
    const prober = createProber({
      resolver: fakeResolver({ 'site.example': [['10.0.0.1', '127.0.0.3', '127.0.0.1']] }),
      policy: createAddressPolicy([ipaddr.parseCIDR('127.0.0.0/8')]),
      clock: systemClock,
      extraRoots: [],
      log: silent,
      portsOf: () => ({ http: port, https: 1 }),
    });
    const result = await prober.follow(url(), never);
    expect(result.last?.body).toBe('arrived');
  });

  test('tries the next allowed address if there is no route to the first', async () => {
    const port = await serve(redirects({}));
    const noRoute = '255.255.255.255';
    const prober = createProber({
      resolver: fakeResolver({ 'site.example': [[noRoute, '127.0.0.1']] }),
      policy: createAddressPolicy([ipaddr.parseCIDR('127.0.0.1/32'), ipaddr.parseCIDR(`${noRoute}/32`)]),
      clock: systemClock,
      extraRoots: [],
      log: silent,
      portsOf: () => ({ http: port, https: 1 }),
    });
    await expect(prober.get(url(), noRoute, never)).rejects.toMatchObject({ problem: 'unreachable' });
    const result = await prober.follow(url(), never);
    expect(result).toMatchObject({ urls: ['http://site.example/'], failure: null });
    expect(result.last?.body).toBe('arrived');
  });

  test.each([
    'ftp://site.example/',
    'javascript:alert(1)',
    'http://',
    'http://user:secret@site.example/',
    'http://site.example:25/',
    'https://site.example:993/',
    'http://site.example:0/',
    'http://site.example:1023/',
    'http://site.example:8080/',
    'https://site.example:65535/',
    'http://127.0.0.1:6379/',
    `http://site.example/${'x'.repeat(5000)}`,
  ])('does not go to %s', async (location) => {
    const result = await follow({ '/': location });
    expect(result.failure?.problem).toBe('bad_redirect');
    expect(result.failure?.message.length).toBeLessThan(400);
    expect(result.failure?.message).not.toContain('secret');
    expect(result.urls).toEqual(['http://site.example/']);
  });

  test.each(['http://site.example:443/', 'https://site.example:80/'])('goes to %s', async (location) => {
    const port = await serve(redirects({ '/': location }));
    const result = await proberWith({ ports: { http: port } }).follow(url(), never);
    expect(result.urls).toEqual(['http://site.example/', location]);
  });

  test('goes to a port that is configured as http or https for that address', async () => {
    const there = await serve((_request, response) => response.end('there'));
    const location = `http://site.example:${there}/`;
    const port = await serve(redirects({ '/': location }));
    const result = await proberWith({ ports: { http: port, https: there } }).follow(url(), never);
    expect(result.urls).toEqual(['http://site.example/', location]);
    expect(result.last?.body).toBe('there');
  });

  test('tries both families of a name with many addresses', async () => {
    const target = (address: string): Target => ({
      address,
      family: address.includes(':') ? 6 : 4,
      allowed: true,
    });
    const tried = async (addresses: string[]) => {
      const seen: string[] = [];
      await followWith(
        {
          targets: async () => addresses.map(target),
          get: async (_url, address) => {
            seen.push(address);
            throw new ProbeFailure('refused', 'refused');
          },
          portsOf: () => ({ http: 80, https: 443 }),
        },
        url(),
        never,
      );
      return seen;
    };
    const fours = ['192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.4', '192.0.2.5'];
    const sixes = ['2001:db8::1', '2001:db8::2', '2001:db8::3'];
    expect(await tried([...fours, ...sixes])).toEqual([
      '192.0.2.1',
      '2001:db8::1',
      '192.0.2.2',
      '2001:db8::2',
    ]);
    expect(await tried(fours)).toEqual(fours.slice(0, 4));
    expect(await tried(['192.0.2.1', ...sixes])).toEqual(['192.0.2.1', ...sixes]);
  });

  test('ends at a name that does not exist, and at one without an address', async () => {
    const names = { 'site.example': [['127.0.0.1']], 'empty.example': [[]] };
    const missing = await follow({ '/': 'http://missing.example/' }, { names });
    expect(missing.failure?.problem).toBe('unresolved');
    expect(missing.failure?.message).toContain('missing.example');
    expect(missing.urls).toEqual(['http://site.example/']);
    const empty = await follow({ '/': 'http://empty.example/' }, { names });
    expect(empty.failure?.problem).toBe('unresolved');
  });

  test('ends when the caller aborts', async () => {
    const port = await serveRaw(() => {});
    const result = await proberWith({ ports: { http: port } }).follow(url(), AbortSignal.timeout(60));
    expect(result).toMatchObject({ urls: ['http://site.example/'], last: null });
    expect(result.failure?.problem).toBe('timeout');
  });
});
