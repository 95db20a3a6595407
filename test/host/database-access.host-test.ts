import { createHash } from 'node:crypto';
import { readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RunningMachine } from '../../src/app/linux-host.ts';
import { DATABASE_PATH } from '../../src/hosting/contract/database-access.ts';
import { type LinuxLayout, linuxLayout } from '../../src/hosting/linux/machine/layout.ts';
import { type Asked, ask } from '../../src/hosting/policy/edge.fixture.ts';
import { text } from '../client.ts';
import { installName, type Person, startTestHomeport, type TestHomeport } from '../homeport.ts';
import type { TestMachine } from './machine.ts';
import { createPreparedMachine } from './prepared.ts';

interface Website {
  id: string;
  name: string;
  database: string;
}

let machine: TestMachine;
let layout: LinuxLayout;
let running: RunningMachine;
let homeport: TestHomeport;
let owner: Person;
let shop: Website;
let cafe: Website;

beforeAll(async () => {
  machine = await createPreparedMachine();
  layout = linuxLayout(machine.folder, machine.runFolder);
  running = await machine.start();
  homeport = await startTestHomeport({ environment: machine.environment });
  const account = await homeport.ownedAccount();
  owner = account.owner;
  // A website for staging asks its visitors for a password.
  shop = await created(account.accountId, 'staging');
  cafe = await created(account.accountId, 'production');
});
afterAll(async () => {
  await homeport?.remove();
  await running?.stop().catch(() => {});
  await machine?.remove();
});

async function created(accountId: string, environment: string): Promise<Website> {
  const name = installName();
  const site = await owner.client.post('/sites', { name, account_id: accountId });
  const wanted = { name, account_id: accountId, site_id: text(site.body, 'id'), environment };
  const id = text((await owner.client.post('/installs', wanted)).body, 'id');
  await homeport.idle();
  return { id, name, database: `hp_${id.replaceAll('-', '')}` };
}

const get = ({ name }: Website, path: string, headers: Record<string, string> = {}, more: Asked = {}) =>
  ask('http', machine.config.edgeHttp.port, `${name}.sites.test`, path, { headers, ...more });

/** The path of a new link. */
async function link({ id }: Website): Promise<string> {
  const answer = await owner.client.post(`/installs/${id}/database/login_links`);
  expect(answer.status).toBe(201);
  const { pathname, search } = new URL(text(answer.body, 'url'));
  return `${pathname}${search}`;
}

const cookieOf = ({ headers }: Awaited<ReturnType<typeof get>>) =>
  (headers['set-cookie'] ?? []).map((line) => line.replace(/;.*$/s, '')).at(-1) ?? '';

/** The cookie of a new session. */
const signIn = async (website: Website) => cookieOf(await get(website, await link(website)));

const page = ({ name, database }: Website, rest = '') =>
  `${DATABASE_PATH}?username=${name}&db=${database}${rest}`;

/** Adminer's answer to a statement. */
async function run(website: Website, cookie: string, query: string): Promise<string> {
  const form = await get(website, page(website, '&sql='), { cookie });
  const token = /name=["']token["'] value=["']([0-9:]+)/.exec(form.text)?.[1] ?? '';
  const answer = await get(
    website,
    page(website, '&sql='),
    { cookie, 'Content-Type': 'application/x-www-form-urlencoded' },
    { method: 'POST', body: new URLSearchParams({ query, token, limit: '50', error_stops: '1' }).toString() },
  );
  expect(answer.status).toBe(200);
  return answer.text;
}

describe('a link to a database', () => {
  test('opens a session once, at a website with a password', async () => {
    expect((await get(shop, '/')).status).toBe(401);
    const path = await link(shop);
    const opened = await get(shop, path);
    expect(opened).toMatchObject({
      status: 200,
      headers: {
        'cache-control': 'no-store',
        'referrer-policy': 'no-referrer',
        'x-robots-tag': 'noindex',
        refresh: `0; url=${page(shop)}`,
      },
    });
    expect(opened.headers['set-cookie']?.at(-1)).toMatch(
      /^homeport_database=[^;]{22,}; path=\/\.well-known\/homeport-database\/; HttpOnly; SameSite=Strict$/i,
    );
    const second = await get(shop, path);
    expect(second.status).toBe(403);
    expect(second.text).toContain('This link no longer works');
    expect(second.headers['set-cookie']).toBeUndefined();
  });

  test('opens one session for many requests at once', async () => {
    const path = await link(shop);
    const answers = await Promise.all(Array.from({ length: 10 }, () => get(shop, path)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  test('expires, counts in its own install only, and is not used up by a browser that looks ahead', async () => {
    const path = await link(shop);
    expect((await get(cafe, path)).status).toBe(403);
    expect((await get(shop, path, { 'Sec-Purpose': 'prefetch' })).status).toBe(503);
    expect((await get(shop, path, {}, { method: 'HEAD' })).status).toBe(405);
    expect((await get(shop, path)).status).toBe(200);

    const folder = join(layout.uploadsOf(shop.id), 'homeport-database');
    const expired = Math.floor(Date.now() / 1000) - 1;
    const token = `${expired}.${'a'.repeat(43)}`;
    const file = `link-${expired}-${createHash('sha256').update(token).digest('hex')}`;
    await writeFile(join(folder, file), '{}', { mode: 0o644 });
    expect((await get(shop, `${DATABASE_PATH}?token=${token}`)).status).toBe(403);
    await link(shop);
    expect(await readdir(folder)).not.toContain(file);
    for (const wrong of ['', 'x', '../../etc/passwd', `${expired + 60}.${'a'.repeat(43)}`]) {
      expect((await get(shop, `${DATABASE_PATH}?token=${wrong}`)).status, wrong).toBe(403);
    }
    expect((await get(shop, `${DATABASE_PATH}?token[]=x`)).status).toBe(403);

    await rm(folder, { recursive: true });
    await symlink('/etc', folder);
    const refused = await owner.client.post(`/installs/${shop.id}/database/login_links`);
    expect(refused).toMatchObject({
      status: 409,
      body: { message: expect.stringContaining('Delete it by SFTP') },
    });
    await rm(folder);
  });
});

describe('a session', () => {
  let cookie: string;
  beforeAll(async () => {
    cookie = await signIn(shop);
  });

  test('shows the tables and runs statements', async () => {
    const tables = await get(shop, page(shop), { cookie });
    expect(tables).toMatchObject({ status: 200, headers: { 'cache-control': 'no-store' } });
    expect(tables.text).toContain('wp_options');
    const policy = String(tables.headers['content-security-policy']);
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain('adminer.org');
    expect(tables.text).not.toContain(machine.folder);

    expect(await run(shop, cookie, 'SELECT CONCAT("is", 40 + 2) AS answer')).toContain('is42');
    await run(
      shop,
      cookie,
      "UPDATE wp_options SET option_value = 'Changed here' WHERE option_name = 'blogname'",
    );
    expect(
      await run(shop, cookie, "SELECT option_value FROM wp_options WHERE option_name = 'blogname'"),
    ).toContain('Changed here');
    const asset = /(?:href|src)=['"]([^'"]*\?file=[^'"]*\.css[^'"]*)/.exec(tables.text)?.[1] ?? '';
    const style = await get(shop, asset.replaceAll('&amp;', '&').replace(/^(?=\?)/, DATABASE_PATH), {
      cookie,
    });
    expect(style).toMatchObject({ status: 200, headers: { 'content-type': /^text\/css/ } });
  });

  test('reaches no other database, server, system or file', async () => {
    const other = await run(shop, cookie, `SELECT * FROM ${cafe.database}.wp_options`);
    expect(other).toContain('denied');
    expect(await run(shop, cookie, 'SELECT * FROM mysql.user')).toContain('denied');
    expect(await run(shop, cookie, "LOAD DATA INFILE '/etc/passwd' INTO TABLE wp_options")).toContain(
      'denied',
    );
    expect(await run(shop, cookie, "SELECT 1 INTO OUTFILE '/tmp/x'")).toContain('denied');
    expect(await run(shop, cookie, "SELECT IFNULL(LOAD_FILE('/etc/passwd'), 'unread') AS f")).toContain(
      'unread',
    );
    expect(await run(shop, cookie, "LOAD DATA LOCAL INFILE '/etc/passwd' INTO TABLE wp_options")).toMatch(
      /class=['"]error/,
    );
    const forbidden = [
      `?username=${shop.name}&db=${cafe.database}`,
      `?username=${shop.name}&db=mysql`,
      `?username=${cafe.name}&db=${shop.database}`,
      `?username=root&db=${shop.database}`,
      `?server=127.0.0.1&username=${shop.name}&db=${shop.database}`,
      `?sqlite=&username=${shop.name}&db=${shop.database}`,
      `?pgsql=127.0.0.1&username=${shop.name}&db=${shop.database}`,
      `?username[]=${shop.name}`,
      '?script=version',
    ];
    for (const query of forbidden) {
      expect((await get(shop, `${DATABASE_PATH}${query}`, { cookie })).status, query).toBe(403);
    }
    const body = 'auth[driver]=sqlite&auth[server]=&auth[username]=x&auth[password]=&auth[db]=/etc/passwd';
    const headers = { cookie, 'Content-Type': 'application/x-www-form-urlencoded' };
    expect((await get(shop, page(shop), headers, { method: 'POST', body })).status).toBe(403);
    const webfile = 'webfile=1&error_stops=1';
    expect((await get(shop, page(shop, '&import='), headers, { method: 'POST', body: webfile })).status).toBe(
      403,
    );
    const start = await get(shop, DATABASE_PATH, { cookie });
    expect(start).toMatchObject({ status: 303, headers: { location: page(shop) } });
  });

  test('is nothing to other installs, and strangers have none', async () => {
    expect((await get(cafe, page(cafe), { cookie })).status).toBe(403);
    const stranger = await get(shop, page(shop));
    expect(stranger).toMatchObject({ status: 403, headers: { 'cache-control': 'no-store' } });
    const unknown = { cookie: `homeport_database=${'a'.repeat(32)}` };
    expect(await get(shop, page(shop), unknown)).toMatchObject({
      status: 403,
      headers: { 'cache-control': 'no-store' },
    });
    expect((await get(shop, page(shop), { cookie: 'homeport_database=../../x' })).status).toBe(403);
    // No document of adminer without a session, either.
    expect((await get(shop, `${DATABASE_PATH}?file=default.css`)).status).toBe(403);
  });

  test('ends when the visitor leaves', async () => {
    const mine = await signIn(cafe);
    expect((await get(cafe, page(cafe), { cookie: mine })).status).toBe(200);
    const headers = { cookie: mine, 'Content-Type': 'application/x-www-form-urlencoded' };
    const left = await get(cafe, page(cafe), headers, { method: 'POST', body: 'logout=Logout' });
    expect(left.text).toContain('Signed out');
    expect((await get(cafe, page(cafe), { cookie: mine })).status).toBe(403);
  });

  test('works if WordPress does not', async () => {
    const mine = await signIn(cafe);
    await writeFile(join(layout.htdocsOf(cafe.id), 'wp-config.php'), '<?php exit("broken");');
    await writeFile(join(layout.htdocsOf(cafe.id), '.user.ini'), 'auto_prepend_file=/nowhere.php\n');
    expect((await get(cafe, page(cafe), { cookie: mine })).text).toContain('wp_options');
    await rm(join(layout.htdocsOf(cafe.id), '.user.ini'));
  });
});
