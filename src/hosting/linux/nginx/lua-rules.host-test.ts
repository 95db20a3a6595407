import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { PathRedirect } from '../../contract/website-rules.ts';
import { RANGE_CASES, RANGES } from '../../policy/address-ranges.fixture.ts';
import { addressRanges } from '../../policy/address-ranges.ts';
import { DENIED, DENY, HIDDEN, SHOWN } from '../../policy/deny-rules.fixture.ts';
import {
  OFFLOAD_CASES,
  OFFLOAD_EVERYTHING,
  OFFLOAD_EVERYTHING_CASES,
  OFFLOAD_PATHS,
} from '../../policy/offload-rule.fixture.ts';
import { offloadRulesOf } from '../../policy/offload-rule.ts';
import { parsePattern } from '../../policy/path-pattern.ts';
import {
  PATH_REDIRECT_CASES,
  PATH_REDIRECTS,
  REDIRECT_ALL,
  REDIRECT_ALL_CASES,
  SLOW_PATTERNS,
} from '../../policy/path-redirects.fixture.ts';
import { REDIRECT_CASES, REDIRECT_NAMES, REDIRECTS_AT } from '../../policy/redirects.fixture.ts';
import { createPass } from '../../policy/visitor-pass.ts';
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

/** Redirects as rows have them. */
const forPcre = (rules: PathRedirect[]) =>
  rules.map((rule) => (rule.match === 'regex' ? { ...rule, from: parsePattern(rule.from).pcre } : rule));

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
    redirects: [{ from: '/p', match: 'prefix', to: '/n', status: 301, keepQuery: true }],
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
  expect(first(await lua.call('path-redirects', 'find', redirected))).toEqual([`/n${deep}`, null]);
  const pages = {
    uncachedPaths: [{ match: 'prefix', path: '/p/q' }],
    bypassCookies: [],
    ignoredParameters: [],
  };
  const [[uncached] = []] = await lua.call('cache-rules', 'of', [[{ pages }]]);
  const asked = [`/p/q${deep}`, `/p/qq${deep}`, deep].map((path) => [uncached, path]);
  expect(first(await lua.call('cache-rules', 'is_uncached', asked))).toEqual([true, false, false]);
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

test.each([
  [PATH_REDIRECTS, PATH_REDIRECT_CASES],
  [REDIRECT_ALL, REDIRECT_ALL_CASES],
])('paths are redirected as in the embedded edge', async (rules, cases) => {
  const calls = cases.map(([path, args]) => [row({ redirects: forPcre(rules) }), path, args]);
  const results = await lua.call('path-redirects', 'find', calls);
  expect(cases.map(([path], index) => [path, results[index]])).toEqual(
    cases.map(([path, , expected]) => [path, expected ?? [null, null]]),
  );
});

test('redirects lead to no other host and add no header', async () => {
  const redirects = forPcre(PATH_REDIRECTS);
  // The embedded edge refuses such paths.
  const paths = ['/up/\\evil.test', '/r\\evil.test', '/up/a\r\nX: y', '/ra\n', '/p/1\n'];
  const results = await lua.call(
    'path-redirects',
    'find',
    paths.map((path) => [row({ redirects }), path, '']),
  );
  expect(first(results)).toEqual(['/%5Cevil.test', '/%5Cevil.test', '/a%0D%0AX:%20y', '/a%0A', null]);
});

test('expressions that would take exponential time end, and match nothing', async () => {
  const calls = SLOW_PATTERNS.map(([from, path]) => [
    row({
      redirects: forPcre([{ match: 'regex', from, to: '/never', status: 301, keepQuery: true }]),
    }),
    path,
    '',
  ]);
  expect(first(await lua.call('path-redirects', 'find', calls))).toEqual(SLOW_PATTERNS.map(() => null));
});

test('blocked addresses, as in the embedded edge', async () => {
  const ranges = addressRanges(RANGES);
  const calls = RANGE_CASES.map(([, digits]) => [ranges, digits]);
  expect(first(await lua.call('addresses', 'contains', calls))).toEqual(
    RANGE_CASES.map(([, , isIn]) => isIn),
  );
  const others = ['', '756e69783a'].map((digits) => [ranges, digits]);
  expect(first(await lua.call('addresses', 'contains', others))).toEqual([false, false]);
});

test('passes through the password, as the host makes them', async () => {
  const key = 'k'.repeat(43);
  const now = new Date('2026-03-01T12:00:00.000Z');
  const pass = createPass(key, now);
  const at = now.getTime() / 1000;
  const calls = [
    [key, pass, at],
    [key, pass, at + 119],
    [key, pass, at + 121],
    ['x'.repeat(43), pass, at],
    [key, pass, at - 2 * 86_400],
    ...['', 'x', `${pass}0`, pass.slice(0, -1), pass.replace(/^\d/, '2')].map((text) => [key, text, at]),
  ];
  expect(first(await lua.call('protection', 'is_pass', calls))).toEqual([
    true,
    true,
    ...calls.slice(2).map(() => false),
  ]);
});

test('attempts to log in', async () => {
  const cases = [
    ['POST', '/wp-login.php', 'login'],
    ['POST', '/blog/wp-login.php', 'login'],
    ['POST', '/wp-login.php/x', 'login'],
    ['POST', '/wp-login.php', 'postpass', 'action=postpass'],
    // PHP would take the last action.
    ['POST', '/wp-login.php', 'login', 'action=postpass&action=login'],
    ['POST', '/wp-login.php', 'login', 'a&action=postpass'],
    ['POST', '/xmlrpc.php', 'xmlrpc'],
    ['GET', '/wp-login.php', null],
    ['POST', '/not-wp-login.php', null],
    ['POST', '/', null],
  ];
  const calls = cases.map(([method, path, , args]) => [method, path, args ?? '']);
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
    // Attempts at one website leave the others theirs.
    const attempts = Array.from({ length: 60 }, (_, at) => [site, basic('ann:guess'), `e${at}`]);
    const other = [{ ...site, id: 'two' }, basic('ann:guess'), 'f'];
    const answers = (await lua.call('protection', 'refusal', [...attempts, other])).map(([status]) => status);
    expect(answers.slice(0, 60)).toContain(429);
    expect(answers.at(-1)).toBe(401);
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
