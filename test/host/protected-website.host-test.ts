import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { RunningMachine } from '../../src/app/linux-host.ts';
import { linuxLayout } from '../../src/hosting/linux/machine/layout.ts';
import { type Asked, ask } from '../../src/hosting/policy/edge.fixture.ts';
import { PASS_COOKIE, PASS_HEADER } from '../../src/hosting/policy/visitor-pass.ts';
import { text } from '../client.ts';
import { installName, type Person, startTestHomeport, type TestHomeport } from '../homeport.ts';
import type { TestMachine } from './machine.ts';
import { createPreparedMachine } from './prepared.ts';

let machine: TestMachine;
let running: RunningMachine;
let homeport: TestHomeport;
let owner: Person;
let id: string;
let name: string;
let credentials: { Authorization: string };

beforeAll(async () => {
  machine = await createPreparedMachine();
  running = await machine.start();
  homeport = await startTestHomeport({ environment: machine.environment });
  const { accountId, owner: person } = await homeport.ownedAccount();
  owner = person;
  name = installName();
  const site = await owner.client.post('/sites', { name, account_id: accountId });
  const wanted = { name, account_id: accountId, site_id: text(site.body, 'id'), environment: 'staging' };
  const made = await owner.client.post('/installs', wanted);
  id = text(made.body, 'id');
  await homeport.idle();
  const { body } = await owner.client.get(`/installs/${id}/protection`);
  const pair = `${text(body, 'password', 'username')}:${text(body, 'password', 'password')}`;
  credentials = { Authorization: `Basic ${Buffer.from(pair).toString('base64')}` };
});
afterAll(async () => {
  await homeport?.remove();
  await running?.stop().catch(() => {});
  await machine?.remove();
});

const get = (path: string, headers: Record<string, string> = {}, more: Asked = {}) =>
  ask('http', machine.config.edgeHttp.port, `${name}.sites.test`, path, { headers, ...more });

test('a website for staging is created behind its password, and shows itself with it', async () => {
  expect((await owner.client.get(`/installs/${id}`)).body).toMatchObject({ status: 'active' });
  expect((await get('/')).status).toBe(401);
  const page = await get('/', credentials);
  expect(page).toMatchObject({ status: 200, headers: { 'x-robots-tag': 'noindex' } });
  expect(page.text).toContain('/wp-includes/');
});

test('a login link signs in without the password, and its cookie opens the website', async () => {
  const link = await owner.client.call('POST', `/installs/${id}/wordpress/login_links`, { json: {} });
  const { pathname, search } = new URL(text(link.body, 'url'));
  const signedIn = await get(`${pathname}${search}`);
  expect(signedIn.status).toBe(302);
  const cookies = signedIn.headers['set-cookie'] ?? [];
  const pass = cookies.find((cookie) => cookie.startsWith(`${PASS_COOKIE}=`));
  expect(pass).toMatch(/HttpOnly; SameSite=Lax$/i);
  const Cookie = cookies.map((cookie) => cookie.replace(/;.*$/s, '')).join('; ');
  const admin = await get('/wp-admin/', { Cookie });
  expect(admin.status).toBe(200);
  expect(admin.text).toContain('wp-admin-bar');
  expect(
    (await get('/wp-admin/', { Cookie: Cookie.replace(/homeport_pass=\d/, 'homeport_pass=0') })).status,
  ).toBe(401);
});

test('requests of WordPress to itself have a pass, and those to others none', async () => {
  const htdocs = linuxLayout(machine.folder, machine.runFolder).htdocsOf(id);
  const headers = (url: string) => `apply_filters('http_request_args', ['headers' => []], ${url})['headers']`;
  await writeFile(
    join(htdocs, 'passes.php'),
    `<?php require 'wp-load.php'; echo json_encode([${headers("home_url('/')")}, ${headers("'https://example.com/'")}]);`,
  );
  const [own, other] = JSON.parse((await get(`/passes.php?${crypto.randomUUID()}`, credentials)).text);
  expect(other).toEqual([]);
  expect((await get('/', { [PASS_HEADER]: own[PASS_HEADER] })).status).toBe(200);
  await owner.client.patch(`/installs/${id}/protection`, { password: { password: null } });
  await homeport.idle();
  expect((await get('/', { [PASS_HEADER]: own[PASS_HEADER] })).status).toBe(401);
  await owner.client.patch(`/installs/${id}/protection`, { password: { enabled: false } });
  await homeport.idle();
  // PHP reads changed files again within two seconds.
  await expect
    .poll(async () => JSON.parse((await get(`/passes.php?${crypto.randomUUID()}`)).text), { interval: 500 })
    .toEqual([[], []]);
});

test('the password of a post is no login, whatever the body says', async () => {
  const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
  const body = 'action=login&log=admin&pwd=wrong';
  const login = await get('/wp-login.php', form, { method: 'POST', headers: form, body });
  expect(login.text).toContain('id="login_error"');
  const post = await get('/wp-login.php?action=postpass', form, { method: 'POST', headers: form, body });
  expect(post.text).not.toContain('login_error');
});

test('cache rules and redirects reach the edge', async () => {
  const rules = {
    uncached_paths: [{ match: 'prefix', path: '/sample-page' }],
    ignored_parameters: ['ref'],
    max_age: 600,
  };
  expect((await owner.client.patch(`/installs/${id}/cache_rules`, rules)).status).toBe(200);
  const redirect = { match: 'regex', from: '^/(\\d{4})/old-(\\w+)$', to: '/$2/', status: 302 };
  expect((await owner.client.post(`/installs/${id}/redirects`, redirect)).status).toBe(201);
  await homeport.idle();
  const cache = async (path: string) => (await get(path)).headers['x-cache'];
  expect([await cache('/sample-page/'), await cache('/sample-page/')]).toEqual(['BYPASS', 'BYPASS']);
  expect([await cache('/?ref=a'), await cache('/?ref=b'), await cache('/')]).toEqual(['MISS', 'HIT', 'HIT']);
  expect((await get('/2019/old-news?a')).headers.location).toBe('/news/?a');
});
