import { createServer, type Server } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import { systemClock } from '../../../lib/clock.ts';
import { systemRandomness } from '../../../lib/ids.ts';
import { observe } from './observation.ts';
import type { ProbeSite } from './probing.ts';
import { checkAgain, judge, repeatFailing } from './website-check.ts';
import type { ScriptRun } from './website-scripts.ts';
import type { WebsiteState } from './website-state.ts';

const PAGE = '<html><head></head><body>Shop</body></html>';
const STATE: WebsiteState = {
  siteurl: 'http://shop.test',
  home: 'http://shop.test',
  template: 'a',
  stylesheet: 'a',
  plugins: [],
  hasPermalinks: true,
  post: 1,
  page: 2,
  upload: null,
  hasAdministrator: true,
  unwritable: null,
  rows: { pages: 3 },
};

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

/** A website with set answers, and the paths that were asked. */
interface FakeWebsite extends ProbeSite {
  /** Status of a path, or `hang`; 200 otherwise. */
  broken: Map<string, number | 'hang'>;
  scripts: Map<string, ScriptRun>;
  asked: string[];
}

async function website(): Promise<FakeWebsite> {
  const broken: FakeWebsite['broken'] = new Map();
  const scripts: FakeWebsite['scripts'] = new Map();
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    const [, as = ''] = String(request.headers['x-homeport-probe']).split(' ');
    asked.push(`${path} ${as}`);
    const status = broken.get(path) ?? 200;
    if (status !== 'hang') response.writeHead(status).end(PAGE);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const edge = { host: '127.0.0.1', port: typeof address === 'object' ? (address?.port ?? 0) : 0 };
  return {
    ...{ broken, scripts, asked },
    website: { primaryHostname: 'shop.test', secure: false, names: ['shop.test'] },
    edge: { http: edge, https: edge },
    async runScript(name) {
      asked.push(name);
      return scripts.get(name) ?? { output: JSON.stringify(STATE) };
    },
    fatals: async () => [],
    database: 'shop',
    clock: systemClock,
    random: systemRandomness,
    pace: { pageMs: 20_000, patienceMs: 10_000, pauseMs: 1, wholeMs: 60_000 },
  };
}

const timesAsked = ({ asked }: FakeWebsite, path: string) =>
  asked.filter((one) => one.startsWith(`${path} `)).length;

test('a website that is as good as before has no finding, and is asked as a visitor and as an administrator', async () => {
  const shop = await website();
  const before = await observe(shop, ['/named/']);
  const all = [...shop.asked].sort();
  shop.asked.length = 0;
  expect(await checkAgain(shop, before)).toEqual({ fault: null, warning: null });
  expect([...shop.asked].sort()).toEqual(all);
  expect(all).toEqual(
    expect.arrayContaining([
      '/ visitor',
      '/named/ visitor',
      '/wp-json/ visitor',
      '/wp-admin/edit.php administrator',
    ]),
  );
});

test('a home page that hangs is asked twice or three times, and nothing else is', async () => {
  const shop = await website();
  const before = await observe(shop);
  shop.asked.length = 0;
  shop.broken.set('/', 'hang');
  const impatient = { ...shop, pace: { ...shop.pace, pageMs: 100 } };
  expect((await checkAgain(impatient, before)).fault?.text).toMatch(/^the home page gives no answer: /);
  expect(shop.asked.filter((one) => one !== '/ visitor')).toEqual(['website-state.php', 'website-state.php']);
  expect(timesAsked(shop, '/')).toBeLessThanOrEqual(3);
});

test('a fault ends the check, and a difference that is tolerated does not', async () => {
  const shop = await website();
  const before = await observe(shop);
  shop.broken.set('/wp-login.php', 404);
  shop.asked.length = 0;
  const { fault, warning } = await checkAgain(shop, before, {
    isTolerated: (what) => what === '/wp-login.php',
  });
  expect([fault, warning]).toEqual([null, 'the login form answers 404, and 200 before']);
  expect(timesAsked(shop, '/wp-admin/plugins.php')).toBe(1);

  shop.asked.length = 0;
  expect((await checkAgain(shop, before)).fault?.differs).toBe('/wp-login.php');
  expect(timesAsked(shop, '/wp-admin/plugins.php')).toBe(0);
});

test('one bad answer of a busy machine is no fault', async () => {
  const shop = await website();
  const before = await observe(shop);
  shop.broken.set('/', 500);
  const check = checkAgain({ ...shop, pace: { ...shop.pace, pauseMs: 200 } }, before);
  setTimeout(() => shop.broken.clear(), 100);
  expect((await check).fault).toBeNull();
});

test('lost rows come before the page that shows the loss', async () => {
  const shop = await website();
  const before = await observe(shop);
  shop.broken.set('/wp-json/', 404);
  shop.scripts.set('website-state.php', { output: JSON.stringify({ ...STATE, rows: { pages: 0 } }) });
  expect((await checkAgain(shop, before)).fault?.text).toBe('the website has 0 pages, and 3 before');
});

test.each<[string, ScriptRun, string]>([
  ['probe-cron.php', { fatal: 'no in a.php:7' }, 'scheduled tasks fail: no in a.php:7'],
  ['probe-comment.php', { fatal: 'no in a.php:7' }, 'a new comment fails: no in a.php:7'],
  ['website-state.php', { failed: 'no database' }, 'WordPress does not start: no database'],
])('%s can show a fault', async (script, run, expected) => {
  const shop = await website();
  const before = await observe(shop);
  shop.scripts.set(script, run);
  expect((await checkAgain(shop, before)).fault?.text).toBe(expected);
  const broken = await observe(shop);
  expect(await checkAgain(shop, broken)).toEqual({ fault: null, warning: null });
});

test('a whole check that takes too long leaves out the rest', async () => {
  const shop = await website();
  const slow = { ...shop, pace: { ...shop.pace, pageMs: 100_000, wholeMs: 100 } };
  shop.broken.set('/', 'hang');
  const before = await observe(slow);
  expect(before.pages.map(({ failure }) => failure)).toContain('the check ended before');
  expect(await checkAgain(slow, before)).toEqual({ fault: null, warning: null });
});

test('a check that is aborted rejects', async () => {
  const shop = await website();
  const stop = new AbortController();
  const before = await observe(shop);
  shop.broken.set('/', 'hang');
  const check = checkAgain({ ...shop, signal: stop.signal }, before);
  setTimeout(() => stop.abort(new Error('the host stops')), 20);
  await expect(check).rejects.toThrow('the host stops');
});

test.each<[(string | null)[], string | null, number]>([
  [[null], null, 0],
  [['busy', null], null, 1],
  [['busy', 'busy', null], null, 2],
  [['a', 'b', 'c', null], 'c', 2],
])('a failing check is repeated: %j', async (found, expected, pauses) => {
  let waited = 0;
  const last = await repeatFailing(
    async () => found.shift() ?? null,
    async () => ++waited > 0,
  );
  expect([last, waited]).toEqual([expected, pauses]);
});

test('a fault comes before a page that looks different, and neither is lost', () => {
  const fault = { text: 'WordPress does not start', differs: null };
  const all = [{ text: 'the home page answers 503', differs: '/' }, fault];
  expect(judge(all, () => false).fault).toEqual(fault);
  expect(judge(all, () => true)).toEqual({ fault, warning: 'the home page answers 503' });
  expect(judge(all.slice(0, 1), () => false).fault).toMatchObject({ differs: '/' });
});
