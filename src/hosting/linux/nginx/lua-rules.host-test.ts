import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DENIED, DENY, HIDDEN, SHOWN } from '../../policy/deny-rules.fixture.ts';
import {
  OFFLOAD_CASES,
  OFFLOAD_EVERYTHING,
  OFFLOAD_EVERYTHING_CASES,
  OFFLOAD_PATHS,
} from '../../policy/offload-rule.fixture.ts';
import { offloadRulesOf } from '../../policy/offload-rule.ts';
import { REDIRECT_CASES, REDIRECT_NAMES, REDIRECTS_AT } from '../../policy/redirects.fixture.ts';
import { hashVisitorPassword, MOST_PASSWORD_ROUNDS, PASSWORD_ROUNDS } from '../../policy/visitor-password.ts';
import { type LuaModules, startLuaModules } from './lua-modules.fixture.ts';

let lua: LuaModules;
beforeAll(async () => {
  lua = await startLuaModules();
});
afterAll(() => lua.close());

const first = (results: unknown[][]) => results.map(([value]) => value);

test('names redirect as in the embedded edge', async () => {
  const calls = REDIRECT_CASES.map(({ name, scheme }) => [
    REDIRECT_NAMES,
    REDIRECT_NAMES[name],
    scheme,
    REDIRECTS_AT,
  ]);
  const results = await lua.call('redirects', 'target', calls);
  expect(results.map(([scheme, name]) => (scheme === null ? null : [scheme, name]))).toEqual(
    REDIRECT_CASES.map(({ to }) => to),
  );
});

test.each([
  [OFFLOAD_PATHS, OFFLOAD_CASES],
  [OFFLOAD_EVERYTHING, OFFLOAD_EVERYTHING_CASES],
])('paths are offloaded as in the embedded edge', async (paths, cases) => {
  const calls = cases.map(([path]) => [offloadRulesOf(paths), path]);
  expect(first(await lua.call('offload', 'redirect_type', calls))).toEqual(cases.map(([, type]) => type));
});

const row = (changes: object) => ({ deny: [], redirects: [], ...changes });

test('files that no visitor may see, as in the embedded edge', async () => {
  const rules = row({ deny: DENY });
  const paths = [...DENIED, ...SHOWN];
  const results = first(
    await lua.call(
      'rules',
      'is_denied',
      paths.map((path) => [rules, path]),
    ),
  );
  expect(paths.filter((_path, index) => results[index])).toEqual(DENIED);
});

test('long paths are compared with what rules could match only', async () => {
  const rules = row({
    deny: ['/p/q', '*.sql', '/x/*.zip'],
    redirects: [{ from: '/p', match: 'prefix', to: '/n', status: 301 }],
  });
  const deep = '/a'.repeat(7_500);
  const dots = '.a'.repeat(7_500);
  const paths = [`/p/q${deep}`, deep, `/a${dots}`, `/a${dots}.sql`, `/x/${dots}.zip`, '/p', '/p/q', '/p/qr'];
  expect(
    first(
      await lua.call(
        'rules',
        'is_denied',
        paths.map((path) => [rules, path]),
      ),
    ),
  ).toEqual([true, false, false, true, true, false, true, false]);
  const redirected = [`/p${deep}`, `/pp${deep}`].map((path) => [rules, path, '']);
  expect(first(await lua.call('rules', 'redirect', redirected))).toEqual([`/n${deep}`, null]);
});

test('hidden files, as in the embedded edge', async () => {
  const paths = [...HIDDEN, ...SHOWN];
  const results = first(
    await lua.call(
      'rules',
      'is_hidden',
      paths.map((path) => [path]),
    ),
  );
  expect(paths.filter((_path, index) => results[index])).toEqual(HIDDEN);
});

describe('redirect rules', () => {
  const redirects = [
    { from: '/old', match: 'exact', to: '/new', status: 301 },
    { from: '/old', match: 'exact', to: '/second', status: 302 },
    { from: '/with', match: 'exact', to: '/new?b=1#part', status: 302 },
    { from: '/part', match: 'exact', to: '/new#part', status: 302 },
    { from: '/blog/', match: 'prefix', to: 'https://blog.test/x/', status: 308 },
    { from: '/blog/2026', match: 'prefix', to: '/archive', status: 301 },
    { from: '/blog/exact', match: 'exact', to: '/e', status: 301 },
    { from: '/up', match: 'prefix', to: '/', status: 301 },
  ];
  const everything = [{ from: '/', match: 'prefix', to: 'https://new.test', status: 301 }];

  test.each([
    ['/old', '', ['/new', 301]],
    ['/old', 'a=b', ['/new?a=b', 301]],
    ['/old/', '', [null, null]],
    ['/with', 'a=b', ['/new?b=1#part', 302]],
    ['/part', 'a=b', ['/new?a=b#part', 302]],
    ['/blog', '', ['https://blog.test/x/', 308]],
    ['/blog/', '', ['https://blog.test/x/', 308]],
    ['/blog/a b/é', 'q', ['https://blog.test/x/a%20b/%C3%A9?q', 308]],
    ['/blogs', '', [null, null]],
    ['/blog/2026/x', '', ['/archive/x', 301]],
    ['/blog/exact', '', ['/e', 301]],
    ['/blog/exact/x', '', ['https://blog.test/x/exact/x', 308]],
    // No path becomes another host, or a header.
    ['/up/evil.test', '', ['/evil.test', 301]],
    ['/up/\\evil.test', '', ['/%5Cevil.test', 301]],
    ['/up/a\r\nX: y', '', ['/a%0D%0AX:%20y', 301]],
    ['/up/a?b#c%', '', ['/a%3Fb%23c%25', 301]],
    ['/', '', [null, null]],
  ])('%j?%s goes to %j', async (path, args, expected) => {
    expect(await lua.call('rules', 'redirect', [[row({ redirects }), path, args]])).toEqual([expected]);
  });

  test('for everything', async () => {
    const calls = ['/', '/a/b', '/@evil.test'].map((path) => [row({ redirects: everything }), path, '']);
    expect(first(await lua.call('rules', 'redirect', calls))).toEqual([
      'https://new.test/',
      'https://new.test/a/b',
      'https://new.test/@evil.test',
    ]);
  });
});

test('attempts to log in', async () => {
  const cases = [
    ['POST', '/wp-login.php', 'login'],
    ['POST', '/blog/wp-login.php', 'login'],
    ['POST', '/wp-login.php/x', 'login'],
    ['POST', '/xmlrpc.php', 'xmlrpc'],
    ['GET', '/wp-login.php', null],
    ['POST', '/not-wp-login.php', null],
    ['POST', '/', null],
  ];
  const calls = cases.map(([method, path]) => [method, path]);
  expect(first(await lua.call('rules', 'login_kind', calls))).toEqual(cases.map(([, , kind]) => kind));
});

describe('passwords of visitors', () => {
  const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;

  test('match their hash', async () => {
    const hash = await hashVisitorPassword('päss:word');
    const passwords = ['päss:word', 'päss:wor', 'päss:wordx', '', 'x'.repeat(10_000)];
    const results = await lua.call(
      'passwords',
      'matches',
      passwords.map((password) => [hash, password, MOST_PASSWORD_ROUNDS]),
    );
    expect(first(results)).toEqual([true, false, false, false, false]);
  });

  test.each([
    '',
    'x',
    `pbkdf2-sha256$${MOST_PASSWORD_ROUNDS + 1}$00$${'0'.repeat(64)}`,
    `pbkdf2-sha256$0$00$${'0'.repeat(64)}`,
  ])('a hash %j is an error', async (hash) => {
    await expect(lua.call('passwords', 'matches', [[hash, 'x', MOST_PASSWORD_ROUNDS]])).rejects.toThrow(
      'cannot be read',
    );
  });

  test('are asked for, and failures are limited by address', async () => {
    await lua.call('protection', 'configure', [[PASSWORD_ROUNDS, MOST_PASSWORD_ROUNDS]]);
    const users = { ann: await hashVisitorPassword('right') };
    const site = { id: 'one', revision: 'r', protect: { realm: 'x', users } };
    const ask = async (header: string, block: string) =>
      (await lua.call('protection', 'refusal', [[site, header, block]]))[0]?.[0];
    for (const header of ['', 'Bearer x', 'Basic ???', basic('no colon')]) {
      expect(await ask(header, 'a')).toBe(401);
    }
    expect(await ask(basic('ann:right'), 'a')).toBeNull();
    const statuses = new Set<unknown>();
    // A limit for each second may come first.
    await expect.poll(() => ask(basic('bob:wrong'), 'b')).toBe(401);
    await expect
      .poll(async () => {
        const status = await ask(basic('ann:wrong'), 'b');
        statuses.add(status);
        return (await ask(basic('ann:right!'), 'c')) === 401 && status === 429;
      })
      .toBe(true);
    expect(statuses).toEqual(new Set([401, 429]));
    // Known credentials cost nothing.
    expect(await ask(basic('ann:right'), 'b')).toBeNull();
    const changed = { ...site, revision: 's', protect: { realm: 'x', users: {} } };
    await expect
      .poll(
        async () => (await lua.call('protection', 'refusal', [[changed, basic('ann:right'), 'd']]))[0]?.[0],
      )
      .toBe(401);
  });
});
