import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { OperatorError } from '../../lib/operator-error.ts';
import { type Cdn, CdnError, createCdn } from './cloudflare.ts';
import { type ScriptedCloudflare, startScriptedCloudflare } from './scripted-cloudflare.fixture.ts';

let cloudflare: ScriptedCloudflare;
let cdn: Cdn;

const names = (count: number) => Array.from({ length: count }, (_, at) => `site${at}.example.com`);

beforeAll(async () => {
  cloudflare = await startScriptedCloudflare();
  const made = createCdn({ zone: 'zone/1', token: 'the-token', api: cloudflare.api });
  if (made === null) throw new Error('there is no CDN');
  cdn = made;
});
afterAll(() => cloudflare.close());
beforeEach(() => cloudflare.reset());

/** The error of a purge of one name. */
async function failure(): Promise<CdnError> {
  const error: unknown = await cdn.purge(['a.example.com']).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(CdnError);
  if (!(error instanceof CdnError)) throw new Error('it was purged');
  return error;
}

describe('a purge', () => {
  test('sends the hosts to the zone, with the token', async () => {
    expect(await cdn.purge(['a.example.com', 'b.example.com', 'a.example.com'])).toEqual({ refused: [] });
    expect(cloudflare.asked).toEqual([
      {
        method: 'POST',
        path: '/client/v4/zones/zone%2F1/purge_cache',
        authorization: 'Bearer the-token',
        hosts: ['a.example.com', 'b.example.com'],
      },
    ]);
  });

  test('sends at most 30 names in a call', async () => {
    await cdn.purge(names(65));
    expect(cloudflare.asked.map(({ hosts }) => hosts.length)).toEqual([30, 30, 5]);
    expect(cloudflare.asked.flatMap(({ hosts }) => hosts)).toEqual(names(65));
  });

  test('of no names sends nothing', async () => {
    expect(await cdn.purge([])).toEqual({ refused: [] });
    expect(cloudflare.asked).toEqual([]);
  });

  test('purges all but the refused names, and returns those', async () => {
    const foreign = ['site3.example.com', 'site40.example.com'];
    cloudflare.refuse((hosts) =>
      hosts.some((host) => foreign.includes(host))
        ? { status: 400, errors: [{ code: 1, message: 'not\n of this zone' }] }
        : null,
    );
    expect(await cdn.purge(names(45))).toEqual({
      refused: foreign.map((hostname) => ({ hostname, reason: 'HTTP 400, not of this zone (code 1)' })),
    });
    expect(cloudflare.purged().sort()).toEqual(
      names(45)
        .filter((name) => !foreign.includes(name))
        .sort(),
    );
  });
});

describe('a failure', () => {
  test('contains Cloudflare’s reason, and is permanent if all names are refused', async () => {
    const message = 'Purging by hostname is not part of this plan';
    cloudflare.refuse(() => ({ status: 400, errors: [{ code: 1107, message }] }));
    const error: unknown = await cdn.purge(names(2)).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ permanent: true });
    expect(String(error)).toBe(
      `CdnError: Cloudflare refused to purge site0.example.com, site1.example.com: HTTP 400, ${message} (code 1107).`,
    );
  });

  test.each([
    [
      401,
      /HTTP 401, Authentication error \(code 10000\).*HOMEPORT_CDN_TOKEN|HOMEPORT_CDN_TOKEN.*Authentication error/,
    ],
    [403, /HOMEPORT_CDN_TOKEN.*Authentication error \(code 10000\).*Cache Purge/],
    [404, /HOMEPORT_CDN_ZONE must be the zone's id/],
  ])('with status %i is permanent and says what to fix', async (status, message) => {
    cloudflare.refuse(() => ({ status, errors: [{ code: 10000, message: 'Authentication error' }] }));
    const error = await failure();
    expect(error.permanent).toBe(true);
    expect(error.message).toMatch(message);
    expect(error.message).not.toContain('the-token');
    expect(cloudflare.asked).toHaveLength(1);
  });

  test.each([429, 500, 503])('with status %i can be retried', async (status) => {
    cloudflare.refuse(() => ({ status, errors: [{ code: 971, message: 'Please wait' }] }));
    const error = await failure();
    expect(error).toMatchObject({ permanent: false });
    expect(error.message).toContain(`HTTP ${status}, Please wait (code 971)`);
  });

  test('includes a 200 without success, and an answer that is not from Cloudflare', async () => {
    cloudflare.refuse(() => ({ status: 200, errors: [] }));
    expect(await failure()).toMatchObject({
      permanent: false,
      message: 'Cloudflare did not purge: HTTP 200, without a reason.',
    });
    cloudflare.refuse(() => ({ status: 502, page: '<html>Bad gateway</html>' }));
    expect(await failure()).toMatchObject({
      permanent: false,
      message: 'Cloudflare did not purge: HTTP 502, without a reason.',
    });
  });

  test('to connect can be retried', async () => {
    const away = createCdn({ zone: 'z', token: 't', api: 'http://127.0.0.1:9' });
    await expect(away?.purge(['a.example.com'])).rejects.toMatchObject({
      permanent: false,
      message: expect.stringMatching(/^Cloudflare cannot be reached at http:\/\/127\.0\.0\.1:9: \S+/),
    });
  });

  test('follows from a redirect, which would leak the token', async () => {
    cloudflare.refuse(() => ({ status: 307, location: '/elsewhere' }));
    expect(await failure()).toMatchObject({ permanent: false });
    expect(cloudflare.asked).toHaveLength(1);
  });

  test('by the caller’s signal rejects with its reason', async () => {
    cloudflare.refuse(() => 'silence');
    const controller = new AbortController();
    const purging = cdn.purge(['a.example.com'], controller.signal);
    setTimeout(() => controller.abort(new Error('the worker stops')), 50);
    await expect(purging).rejects.toThrow('the worker stops');
  });
});

describe('the configuration', () => {
  const api = 'http://127.0.0.1:9';

  test('without zone and token gives no CDN', () => {
    expect(createCdn({ zone: null, token: null, api })).toBeNull();
  });

  test('with only one of them is refused', () => {
    expect(() => createCdn({ zone: 'z', token: null, api })).toThrow(OperatorError);
    expect(() => createCdn({ zone: null, token: 't', api })).toThrow(/HOMEPORT_CDN_ZONE/);
  });
});
