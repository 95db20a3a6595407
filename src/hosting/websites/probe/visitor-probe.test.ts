import { createServer, type ServerResponse } from 'node:http';
import type { Server } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import type { ProbedWebsite } from './visited-page.ts';
import { probeHomePage, probeVisitors } from './visitor-probe.ts';

const PAGE = '<!doctype html><html><head></head><body>Shop</body></html>';
const FORM = '<html><form id="loginform"><input name="pwd"></form></html>';
const STYLES = '.dashicons{}';

type Place = (response: ServerResponse) => void;

const answers =
  (status: number, body = '', headers: Record<string, string> = {}): Place =>
  (response) =>
    void response.writeHead(status, headers).end(body);

const WORKING: Record<string, Place> = {
  '/': answers(200, PAGE),
  '/wp-login.php': answers(200, FORM),
  '/wp-includes/css/dashicons.min.css': answers(200, STYLES),
};

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function website(places: Record<string, Place>, cookies: unknown[] = []): Promise<ProbedWebsite> {
  const all: Record<string, Place> = { ...WORKING, ...places };
  const server = createServer((request, response) => {
    cookies.push(request.headers.cookie);
    (all[request.url ?? ''] ?? answers(404))(response);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const edge = { host: '127.0.0.1', port: typeof address === 'object' ? (address?.port ?? 0) : 0 };
  return {
    website: { primaryHostname: 'shop.test', secure: false, names: ['shop.test'] },
    edge: { http: edge, https: edge },
  };
}

const texts = async (places: Record<string, Place>, timeoutMs = 20_000) =>
  (await probeVisitors(await website(places), { timeoutMs })).map(({ text }) => text);

test.each<[string, Record<string, Place>, string[]]>([
  ['works', {}, []],
  ['answers 500', { '/': answers(500) }, ['the home page answers 500']],
  ['is blank', { '/': answers(200) }, ['the home page is empty']],
  [
    'shows an error',
    { '/': answers(200, '<b>Fatal error</b>:  Uncaught Error: no in /srv/x/htdocs/wp-content/a.php:7') },
    ['the home page shows a fatal error: Uncaught Error: no in wp-content/a.php:7'],
  ],
  [
    'lost its styles',
    { '/wp-includes/css/dashicons.min.css': answers(404) },
    ['the stylesheet of WordPress answers 404'],
  ],
  [
    'offers its installation',
    {
      '/': answers(302, '', { location: '/wp-admin/install.php' }),
      '/wp-admin/install.php': answers(200, FORM),
    },
    ['the home page leads to the installation of WordPress'],
  ],
])('a website that %s', async (_name, places, expected) => {
  expect(await texts(places)).toEqual(expected);
});

test('a home page without an answer in time is a fault', async () => {
  expect(await texts({ '/': () => {} }, 200)).toContainEqual(
    expect.stringMatching(/^the home page gives no answer: /),
  );
});

test.each<[string, Record<string, Place>]>([
  ['closed to strangers', { '/': answers(401), '/wp-login.php': answers(403) }],
  ['whose login form is hidden', { '/wp-login.php': answers(404) }],
  ['whose login redirects', { '/wp-login.php': answers(302, '', { location: 'https://id.test/' }) }],
  ['that redirects to another website', { '/': answers(301, '', { location: 'https://other.test/' }) }],
  [
    'whose shop sends visitors on',
    { '/': answers(302, '', { location: '/shop/' }), '/shop/': answers(200, PAGE) },
  ],
])('a website %s has no fault', async (_name, places) => {
  expect(await texts(places)).toEqual([]);
});

test('a maintenance page is a fault that can be on purpose', async () => {
  const shop = await website({ '/': answers(503, '<p>Back soon</p>') });
  expect(await probeHomePage(shop)).toEqual({
    page: 'the home page',
    path: '/',
    status: 503,
    text: 'the home page answers 503',
    isMaintenance: true,
  });
});

test('names the first error that a failing page added to the log', async () => {
  let log = ['old', 'broken in wp-content/a.php:7'];
  const broken: Place = (response) => {
    log = [...log, 'broken in wp-content/a.php:7', 'later'];
    answers(500)(response);
  };
  const fault = await probeHomePage(await website({ '/': broken }), { fatals: async () => log });
  expect(fault?.text).toBe('the home page answers 500: broken in wp-content/a.php:7');
});

test('passes the page cache unless told otherwise', async () => {
  const cookies: unknown[] = [];
  const shop = await website({}, cookies);
  await probeHomePage(shop);
  await probeHomePage(shop, { throughCache: true });
  expect(cookies).toEqual(['wordpress_logged_in_check=1', undefined]);
});
