import { expect, test } from 'vitest';
import { mayDiffer } from './expected-observation.ts';
import { findings, worsened } from './findings.ts';
import type { Observation } from './observation.ts';
import { judge, repeatFailing } from './website-check.ts';

const page = {
  name: 'the home page',
  path: '/',
  status: 200,
  failure: null,
  length: 1000,
  parts: ['<main', '</html>'],
  errors: ['Fatal error'],
};
const settings = {
  siteurl: 'https://shop.test',
  home: 'https://shop.test',
  template: 'parent',
  stylesheet: 'child',
  plugins: ['akismet/akismet.php', 'hello.php'],
  post: 1,
  page: null,
};
const before: Observation = { pages: [page], fatals: ['PHP Fatal error: old'], settings };

test.each<[object, string | null]>([
  [{}, null],
  [{ length: 600 }, null],
  [{ parts: ['<main', '<nav', '</html>'] }, null],
  [{ errors: [] }, null],
  [{ status: 500 }, 'the home page answers 500, and 200 before'],
  [{ status: null, failure: 'it hangs' }, 'the home page gives no answer: it hangs'],
  [{ parts: ['<main'] }, 'the home page lacks </html>'],
  [{ length: 400 }, 'the home page has 400 characters, and 1000 before'],
  [{ errors: ['Fatal error', 'Parse error'] }, 'the home page shows a parse error'],
])('a page that is now %j', (change, expected) => {
  expect(worsened(before, { ...before, pages: [{ ...page, ...change }] })).toBe(expected);
});

test('a page that failed before cannot become worse', () => {
  const broken = { ...before, pages: [{ ...page, status: 500, parts: [], length: 2000 }] };
  expect(
    worsened(broken, { ...before, pages: [{ ...page, status: 500, parts: [], length: 10 }] }),
  ).toBeNull();
  const silent = { ...before, pages: [{ ...page, status: null }] };
  expect(worsened(silent, { ...before, pages: [{ ...page, status: 500 }] })).toBeNull();
});

test('wp-admin may not begin to fail', () => {
  const failing = { ...before, admin: 'Call to undefined function' };
  expect(worsened({ ...before, admin: null }, failing)).toBe('wp-admin fails: Call to undefined function');
  expect(worsened(failing, failing)).toBeNull();
  // An entry of an earlier version.
  expect(worsened(before, failing)).toBeNull();
});

test('only new fatal errors count', () => {
  expect(worsened(before, { ...before, fatals: ['PHP Fatal error: old'] })).toBeNull();
  const fatals = ['PHP Fatal error: old', 'PHP Fatal error: new'];
  expect(worsened(before, { ...before, fatals })).toBe('PHP reports: PHP Fatal error: new');
});

test('fatal errors of other files do not count for an updated plugin', () => {
  const plugin = { kind: 'plugin', id: 'akismet/akismet.php' } as const;
  const now = (line: string) => ({ ...before, fatals: [line] });
  const visitor = now('PHP Fatal error: x in /srv/htdocs/wp-settings.php on line 1');
  expect(worsened(before, visitor, [plugin])).toBeNull();
  expect(worsened(before, visitor, [{ kind: 'core', id: 'wordpress' }])).toBeNull();
  expect(worsened(before, visitor)).not.toBeNull();
  const own = 'PHP Fatal error: x in /srv/htdocs/wp-content/plugins/akismet/class.php on line 1';
  expect(worsened(before, now(own), [plugin])).toBe(`PHP reports: ${own}`);
  expect(worsened(before, now(own), [{ kind: 'plugin', id: 'kismet/a.php' }])).toBeNull();
  const file = 'PHP Fatal error: x in /srv/htdocs/wp-content/plugins/hello.php:1';
  expect(worsened(before, now(file), [{ kind: 'plugin', id: 'hello.php' }])).toBe(`PHP reports: ${file}`);
});

test('the newest post may be deleted meanwhile', () => {
  const post = { ...page, name: 'the newest post', path: '/?p=1' };
  const seen = (status: number) =>
    worsened({ ...before, pages: [post] }, { ...before, pages: [{ ...post, status }] });
  expect(seen(404)).toBeNull();
  expect(seen(500)).toBe('the newest post answers 500, and 200 before');
});

test.each<[(string | null)[], string | null, number]>([
  [[null], null, 0],
  [['busy', null], null, 1],
  [['busy', 'busy', null], null, 2],
  [['a', 'b', 'c', null], 'c', 2],
])('a failing check is repeated: %j', async (findings, expected, pauses) => {
  let waited = 0;
  const found = await repeatFailing(
    async () => findings.shift() ?? null,
    async () => {
      waited++;
    },
  );
  expect([found, waited]).toEqual([expected, pauses]);
});

test.each<[object, string | null]>([
  [{ plugins: [...settings.plugins, 'new/new.php'], post: 2 }, null],
  [
    { siteurl: 'https://evil.test' },
    'the option siteurl is "https://evil.test", and "https://shop.test" before',
  ],
  [{ home: '' }, 'the option home is "", and "https://shop.test" before'],
  [{ stylesheet: 'parent' }, 'the theme is parent, and child before'],
  [{ plugins: ['hello.php'] }, 'the plugin akismet/akismet.php is no longer active'],
])('settings that are now %j', (change, expected) => {
  expect(worsened(before, { ...before, settings: { ...settings, ...change } })).toBe(expected);
});

test('settings count only if they could be read before', () => {
  expect(worsened(before, { ...before, settings: null })).toBe('WordPress does not start');
  expect(worsened({ ...before, settings: null }, { ...before, settings: null })).toBeNull();
});

test.each<[object, boolean]>([
  [{ status: 404 }, true],
  [{ status: 503 }, true],
  [{ status: 302, failure: 'it redirects to https://sso.test/' }, true],
  [{ parts: [] }, true],
  [{ status: 500 }, false],
  [{ status: 503, errors: ['critical error'] }, false],
  [{ errors: ['Parse error'] }, false],
  [{ status: null, failure: 'it hangs' }, false],
])('a page that is now %j looks different only: %s', (change, isDifferent) => {
  const found = findings(before, { ...before, pages: [{ ...page, ...change }] });
  expect(found).toEqual([{ text: expect.any(String), differs: isDifferent ? '/' : null }]);
});

test('an activation may move the login form, and a change that is kept any page', () => {
  expect(mayDiffer({ status: 'active' }, '/wp-login.php')).toBe(true);
  expect(mayDiffer({ status: 'inactive' }, '/wp-login.php')).toBe(false);
  expect(mayDiffer({ status: 'active' }, '/')).toBe(false);
  expect(mayDiffer({ status: 'inactive', keep: true }, '/')).toBe(true);
});

test('a fault comes before a page that looks different, and neither is lost', () => {
  const after = { ...before, pages: [{ ...page, status: 503 }], settings: null };
  const all = findings(before, after);
  expect(judge(all, () => false).fault).toEqual({ text: 'WordPress does not start', differs: null });
  expect(judge(all, () => true)).toEqual({
    fault: { text: 'WordPress does not start', differs: null },
    warning: expect.stringContaining('503'),
  });
  expect(judge(all.slice(0, 1), () => false).fault).toMatchObject({ differs: '/' });
});
