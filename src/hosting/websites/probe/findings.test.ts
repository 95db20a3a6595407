import { expect, test } from 'vitest';
import { expectedAfter, mayDiffer } from './expected-observation.ts';
import { busyness, newFatal, newlyMissing, worsenedPage, worsenedScript, worsenedState } from './findings.ts';
import type { SeenPage } from './visited-page.ts';
import type { WebsiteState } from './website-state.ts';

const page: SeenPage = {
  name: 'the home page',
  path: '/',
  kind: 'visitor',
  status: 200,
  failure: null,
  length: 1000,
  parts: ['<main', '</html>'],
  errors: ['Fatal error'],
  error: null,
  milliseconds: 100,
};
const state: WebsiteState = {
  siteurl: 'https://shop.test',
  home: 'https://shop.test',
  template: 'parent',
  stylesheet: 'child',
  plugins: ['akismet/akismet.php', 'hello.php'],
  hasPermalinks: true,
  post: 1,
  page: null,
  upload: null,
  hasAdministrator: true,
  unwritable: null,
  rows: { pages: 2, comments: 40, users: 1 },
};

const CHANGED = { id: 'a/a.php', theme: { stylesheet: 'a', template: 'a' } };

const textOf = (former: SeenPage, change: Partial<SeenPage>) =>
  worsenedPage(former, { ...former, ...change })?.text ?? null;

test.each<[Partial<SeenPage>, string | null]>([
  [{}, null],
  [{ length: 600 }, null],
  [{ parts: ['<main', '<nav', '</html>'] }, null],
  [{ errors: [] }, null],
  [{ milliseconds: 3_000 }, null],
  [{ status: 500 }, 'the home page answers 500, and 200 before'],
  [{ status: 500, error: 'no in a.php:7' }, 'the home page answers 500, and 200 before: no in a.php:7'],
  [{ error: 'no in a.php:7' }, 'the home page shows a fatal error: no in a.php:7'],
  [{ status: null, failure: 'it hangs' }, 'the home page gives no answer: it hangs'],
  [{ parts: ['<main'] }, 'the home page lacks </html>'],
  [{ length: 400 }, 'the home page has 400 characters, and 1000 before'],
  [{ errors: ['Fatal error', 'Parse error'] }, 'the home page shows a parse error'],
  [{ milliseconds: 6_200 }, 'the home page takes 6.2 s, and 0.1 s before'],
])('a page that is now %j', (change, expected) => {
  expect(textOf(page, change)).toBe(expected);
});

test('a page that failed before cannot become worse', () => {
  const broken = { ...page, status: 500, parts: [], length: 2000, error: 'old' };
  expect(textOf(broken, { length: 10, error: 'other' })).toBeNull();
  expect(textOf({ ...page, status: null }, { status: 500 })).toBeNull();
  expect(textOf({ ...page, status: 401 }, { parts: [], length: 0 })).toBeNull();
});

test('a busy machine makes no page slower', () => {
  const slow = { ...page, milliseconds: 6_200 };
  expect(worsenedPage(page, slow, busyness(100, 200))).not.toBeNull();
  expect(worsenedPage({ ...page, milliseconds: 800 }, slow, busyness(100, 500))).toBeNull();
  // A faster machine demands nothing more.
  expect(busyness(200, 100)).toBe(1);
});

test('pages of wp-admin may look different, but must end and keep the session', () => {
  const editor: SeenPage = {
    ...page,
    name: 'the editor',
    path: '/wp-admin/post-new.php',
    kind: 'administrator',
  };
  expect(textOf(editor, { parts: ['</html>'], length: 10 })).toBeNull();
  expect(textOf(editor, { parts: [] })).toBe('the editor lacks </html>');
  expect(textOf(editor, { parts: ['name="pwd"', '</html>'] })).toBe(
    'the editor asks administrators to sign in again',
  );
});

test('answers for programs and files have no structure', () => {
  expect(textOf({ ...page, kind: 'api' }, { parts: [], length: 10 })).toBeNull();
  expect(textOf({ ...page, kind: 'file' }, { status: 404 })).toBe(
    'the home page answers 404, and 200 before',
  );
});

test('the newest post may be deleted meanwhile', () => {
  const post = { ...page, name: 'the newest post', path: '/?p=1' };
  expect(textOf(post, { status: 404 })).toBeNull();
  expect(textOf(post, { status: 500 })).toBe('the newest post answers 500, and 200 before');
});

test.each<[Partial<SeenPage>, boolean]>([
  [{ status: 404 }, true],
  [{ status: 503 }, true],
  [{ status: 302, failure: 'it redirects to https://sso.test/' }, true],
  [{ parts: [] }, true],
  [{ milliseconds: 9_000 }, true],
  [{ status: 500 }, false],
  [{ status: 503, errors: ['critical error'] }, false],
  [{ status: 403, error: 'no in a.php:7' }, false],
  [{ errors: ['Parse error'] }, false],
  [{ status: null, failure: 'it hangs' }, false],
])('a page that is now %j looks different only: %s', (change, isDifferent) => {
  const found = worsenedPage(page, { ...page, ...change });
  expect(found).toEqual({ text: expect.any(String), differs: isDifferent ? '/' : null });
});

test('only new fatal errors count, and for a plugin only those of its files', () => {
  const known = 'old in wp-content/plugins/akismet/a.php:1';
  const own = 'new in wp-content/plugins/akismet/class.php:1';
  const visitors = 'new in wp-settings.php:1';
  const plugin = { kind: 'plugin', id: 'akismet/akismet.php' } as const;
  expect(newFatal([known], [known])).toBeNull();
  expect(newFatal([known], [known, visitors])?.text).toBe(`PHP reports: ${visitors}`);
  expect(newFatal([known], [known, visitors], [plugin])).toBeNull();
  expect(newFatal([known], [visitors], [{ kind: 'core', id: 'wordpress' }])).toBeNull();
  expect(newFatal([known], [own], [plugin])?.text).toBe(`PHP reports: ${own}`);
  expect(newFatal([known], [own], [{ kind: 'plugin', id: 'kismet/a.php' }])).toBeNull();
  const file = 'x in wp-content/plugins/hello.php:1';
  expect(newFatal([], [file], [{ kind: 'plugin', id: 'hello.php' }])?.text).toBe(`PHP reports: ${file}`);
});

test('a script may not begin to fail', () => {
  expect(worsenedScript('a new comment fails', null, 'no')?.text).toBe('a new comment fails: no');
  expect(worsenedScript('a new comment fails', 'other', 'no')).toBeNull();
  expect(worsenedScript('a new comment fails', null, null)).toBeNull();
});

test('files that pages load count if they were there before', () => {
  const file = (path: string) => ({ path, status: 404, page: { name: 'the editor', path: '/e' } });
  expect(newlyMissing([], [file('/a.js')])).toEqual({
    text: 'the editor loads /a.js, which answers 404',
    differs: '/e',
  });
  expect(newlyMissing(['/a.js'], [file('/a.js')])).toBeNull();
  // The same file with another hash in its name.
  expect(newlyMissing(['/a.1.js'], [file('/a.2.js')])).toBeNull();
});

test.each<[Partial<WebsiteState>, string | null]>([
  [{ plugins: [...state.plugins, 'new/new.php'], post: 2 }, null],
  [
    { siteurl: 'https://evil.test' },
    'the option siteurl is "https://evil.test", and "https://shop.test" before',
  ],
  [{ home: '' }, 'the option home is "", and "https://shop.test" before'],
  [{ stylesheet: 'parent' }, 'the theme is parent, and child before'],
  [{ plugins: ['hello.php'] }, 'the plugin akismet/akismet.php is no longer active'],
  [{ hasAdministrator: false }, 'no user is an administrator'],
  [{ unwritable: 'read-only' }, 'the database cannot be written: read-only'],
  [{ rows: { pages: 1, comments: 35, users: 1 } }, null],
  [{ rows: { pages: 0, comments: 40, users: 1 } }, 'the website has 0 pages, and 2 before'],
  [{ rows: { pages: 2, comments: 12, users: 1 } }, 'the website has 12 comments, and 40 before'],
])('a state that is now %j', (change, expected) => {
  expect(worsenedState(state, { state: { ...state, ...change } })?.text ?? null).toBe(expected);
});

test('the state counts only if it could be read before', () => {
  const failed = { state: null, failure: 'no in a.php:7' };
  expect(worsenedState(state, failed)?.text).toBe('WordPress does not start: no in a.php:7');
  expect(worsenedState(null, failed)).toBeNull();
  const now = { state: { ...state, unwritable: 'b' } };
  expect(worsenedState({ ...state, unwritable: 'a' }, now)).toBeNull();
});

test('a page of the menu may go with its plugin, but not with an activation', () => {
  const linked = { ...page, name: 'the page /events/', path: '/events/' };
  const rest = { missing: [], cron: null, comment: null, fatals: [], state: null, milliseconds: 1 };
  const kept = (status: 'active' | 'inactive' | 'deleted') =>
    expectedAfter({ pages: [page, linked], ...rest }, { kind: 'plugin', status }, CHANGED).pages.length;
  expect([kept('active'), kept('inactive'), kept('deleted')]).toEqual([2, 1, 1]);
});

test('an activation may change how people sign in, and a change that is kept anything', () => {
  for (const path of ['/wp-login.php', '/wp-admin/edit.php', '/wp-json/', '/?rest_route=/']) {
    expect([path, mayDiffer({ status: 'active' }, path)]).toEqual([path, true]);
    expect(mayDiffer({ status: 'inactive' }, path)).toBe(false);
  }
  expect(mayDiffer({ status: 'active' }, '/')).toBe(false);
  expect(mayDiffer({ status: 'active' }, 'rows of pages')).toBe(false);
  expect(mayDiffer({ status: 'inactive', keep: true }, '/')).toBe(true);
});
