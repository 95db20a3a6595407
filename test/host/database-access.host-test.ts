import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { RunningMachine } from '../../src/app/linux-host.ts';
import { DATABASE_PATH } from '../../src/hosting/contract/database-access.ts';
import { type LinuxLayout, linuxLayout } from '../../src/hosting/linux/machine/layout.ts';
import { ask } from '../../src/hosting/policy/edge.fixture.ts';
import {
  databaseCases,
  type OpenedWebsite,
  signIn,
} from '../../src/hosting/websites/database/database-cases.fixture.ts';
import { text } from '../client.ts';
import { installName, type Person, startTestHomeport, type TestHomeport } from '../homeport.ts';
import type { TestMachine } from './machine.ts';
import { createPreparedMachine } from './prepared.ts';

interface Website extends OpenedWebsite {
  name: string;
  database: string;
}

let machine: TestMachine;
let running: RunningMachine;
let homeport: TestHomeport;
let owner: Person;
let shop: Website;
let cafe: Website;

databaseCases(async () => {
  machine = await createPreparedMachine();
  const layout = linuxLayout(machine.folder, machine.runFolder);
  running = await machine.start();
  homeport = await startTestHomeport({ environment: machine.environment });
  const account = await homeport.ownedAccount();
  owner = account.owner;
  shop = await opened(layout, account.accountId, 'production');
  // A website for staging asks its visitors for a password.
  cafe = await opened(layout, account.accountId, 'staging');
  return {
    shop,
    cafe,
    hostFolder: machine.folder,
    async stop() {
      await homeport?.remove();
      await running?.stop().catch(() => {});
      await machine?.remove();
    },
  };
});

const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' };
const pageOf = ({ name, database }: Pick<Website, 'name' | 'database'>, rest = '') =>
  `${DATABASE_PATH}?username=${name}&db=${database}${rest}`;

async function opened(layout: LinuxLayout, accountId: string, environment: string): Promise<Website> {
  const name = installName();
  const site = await owner.client.post('/sites', { name, account_id: accountId });
  const wanted = { name, account_id: accountId, site_id: text(site.body, 'id'), environment };
  const id = text((await owner.client.post('/installs', wanted)).body, 'id');
  await homeport.idle();
  const database = `hp_${id.replaceAll('-', '')}`;
  const page = (rest?: string) => pageOf({ name, database }, rest);
  const website: Website = {
    name,
    database,
    root: layout.htdocsOf(id),
    sessions: join(layout.uploadsOf(id), 'homeport-database'),
    ask: (path, asked = {}) => ask('http', machine.config.edgeHttp.port, `${name}.sites.test`, path, asked),
    async link() {
      const answer = await owner.client.post(`/installs/${id}/database/login_links`);
      if (answer.status !== 201) throw new Error(text(answer.body, 'message'));
      const { pathname, search } = new URL(text(answer.body, 'url'));
      return `${pathname}${search}`;
    },
    async purgeObjects() {
      await owner.client.post(`/installs/${id}/purge_cache`, { type: 'object' });
      await homeport.idle();
    },
    async backUp() {
      const backup = await owner.client.post(`/installs/${id}/backups`, {
        description: 'before',
        notification_emails: [],
      });
      await homeport.idle();
      return async () => {
        await owner.client.post(`/installs/${id}/backups/${text(backup.body, 'id')}/restore`, {
          notification_emails: [],
        });
        await homeport.idle();
      };
    },
    firstPage: page(),
    async run(cookie, query) {
      const form = await website.ask(page('&sql='), { headers: { cookie } });
      const token = /name=["']token["'] value=["']([0-9:]+)/.exec(form.text)?.[1] ?? '';
      const body = new URLSearchParams({ query, token, limit: '50', error_stops: '1' }).toString();
      const answer = await website.ask(page('&sql='), { method: 'POST', headers: { ...FORM, cookie }, body });
      expect(answer.status).toBe(200);
      return answer.text;
    },
    leave: (cookie) =>
      website.ask(page(), { method: 'POST', headers: { ...FORM, cookie }, body: 'logout=Logout' }),
  };
  return website;
}

test('a link opens a website with a password', async () => {
  expect((await cafe.ask('/')).status).toBe(401);
  expect((await cafe.ask(await cafe.link())).status).toBe(200);
});

test('a session reaches no other database, server, system or file', async () => {
  const cookie = await signIn(shop);
  const other = await shop.run(cookie, `SELECT * FROM ${cafe.database}.wp_options`);
  expect(other).toContain('denied');
  expect(await shop.run(cookie, 'SELECT * FROM mysql.user')).toContain('denied');
  expect(await shop.run(cookie, "LOAD DATA INFILE '/etc/passwd' INTO TABLE wp_options")).toContain('denied');
  expect(await shop.run(cookie, "SELECT 1 INTO OUTFILE '/tmp/x'")).toContain('denied');
  expect(await shop.run(cookie, "SELECT IFNULL(LOAD_FILE('/etc/passwd'), 'unread') AS f")).toContain(
    'unread',
  );
  expect(await shop.run(cookie, "LOAD DATA LOCAL INFILE '/etc/passwd' INTO TABLE wp_options")).toMatch(
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
    expect((await shop.ask(`${DATABASE_PATH}${query}`, { headers: { cookie } })).status, query).toBe(403);
  }
  const body = 'auth[driver]=sqlite&auth[server]=&auth[username]=x&auth[password]=&auth[db]=/etc/passwd';
  const headers = { ...FORM, cookie };
  expect((await shop.ask(pageOf(shop), { method: 'POST', headers, body })).status).toBe(403);
  const webfile = 'webfile=1&error_stops=1';
  expect((await shop.ask(pageOf(shop, '&import='), { method: 'POST', headers, body: webfile })).status).toBe(
    403,
  );
  const start = await shop.ask(DATABASE_PATH, { headers: { cookie } });
  expect(start).toMatchObject({ status: 303, headers: { location: shop.firstPage } });
});

test('no link is made in a folder that the website cannot write', async () => {
  await shop.link();
  await chmod(shop.sessions, 0o500);
  await expect(shop.link()).rejects.toThrow(/cannot write into its folder tmp\/homeport-database/);
  await chmod(shop.sessions, 0o700);
});
