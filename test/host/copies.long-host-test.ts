import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { linuxLayout } from '../../src/hosting/linux/machine/layout.ts';
import { field, text } from '../client.ts';
import { visit } from '../edge.ts';
import { installName, type Person, startTestHomeport, type TestHomeport } from '../homeport.ts';
import type { TestMachine } from './machine.ts';
import { createPreparedMachine } from './prepared.ts';

const run = promisify(execFile);

let machine: TestMachine;
let homeport: TestHomeport;
let owner: Person;
let accountId: string;

beforeAll(async () => {
  machine = await createPreparedMachine();
  await machine.start();
  homeport = await startTestHomeport({ environment: machine.environment });
  ({ accountId, owner } = await homeport.ownedAccount());
});
afterAll(async () => {
  await homeport?.remove();
  await machine?.remove();
});

interface Install {
  id: string;
  name: string;
  domain: string;
}

async function wordpress(): Promise<Install> {
  const name = installName();
  const made = await owner.client.post('/installs', { name, account_id: accountId });
  await homeport.idle();
  return { id: text(made.body, 'id'), name, domain: `${name}.sites.test` };
}

function look(address: string) {
  const { edgeHttp, edgeHttps, sshListen } = machine.config;
  return visit({ hosting: { edgeHttp, edgeHttps, ssh: sshListen } }, address);
}

/** Runs statements in the database of an install; resolves with the output. */
async function sql({ id }: Install, statements: string): Promise<string> {
  const socket = linuxLayout(machine.folder, machine.runFolder).mariadbSocket;
  const database = `hp_${id.replaceAll('-', '')}`;
  const { stdout } = await run('mariadb', ['-N', '-B', `--socket=${socket}`, database, '-e', statements]);
  return stdout.trimEnd();
}

/** Has PHP run at the start of each request of an install. */
async function plugin({ id, name }: Install, code: string): Promise<void> {
  const folder = `${machine.folder}/installs/${id}/htdocs/wp-content/mu-plugins`;
  const asInstall = ['-u', name, '--', 'sh', '-c'];
  await run('runuser', [
    ...asInstall,
    'mkdir -p "$1" && printf %s "$2" > "$1/test.php"',
    '-',
    folder,
    `<?php ${code}`,
  ]);
}

/** Copies everything; resolves with the ended operation. */
async function copy(from: Install, to: Install): Promise<unknown> {
  const asked = await owner.client.post('/install_copy', {
    source_environment_id: from.id,
    destination_environment_id: to.id,
  });
  expect(asked.status).toBe(202);
  return ended(asked.headers.location);
}

async function ended(location: string | string[] | undefined): Promise<unknown> {
  const path = String(location).replace('/v1', '');
  for (;;) {
    const { body } = await owner.client.get(`${path}?wait=60`);
    if (!['queued', 'running'].includes(text(body, 'status'))) return body;
  }
}

/** Changes a domain; resolves with the ended operation. */
async function change({ id, domain }: Install, wanted: object): Promise<unknown> {
  const { body } = await owner.client.get(`/installs/${id}/domains?limit=100`);
  const results = field(body, 'results');
  const found = Array.isArray(results) ? results.find((item) => text(item, 'name') === domain) : undefined;
  const changed = await owner.client.patch(`/installs/${id}/domains/${text(found, 'id')}`, wanted);
  expect(changed.status).toBe(200);
  await homeport.idle();
  return lastOperation(id);
}

async function lastOperation(id: string): Promise<unknown> {
  const { body } = await owner.client.get(`/operations?install_id=${id}&kind=install.apply&limit=100`);
  const results = field(body, 'results');
  return Array.isArray(results) ? results.at(-1) : undefined;
}

const secure = (install: Install) => change(install, { secure_all_urls: true });
const contentOf = (install: Install) =>
  sql(install, 'SELECT DISTINCT post_content FROM wp_posts WHERE post_type = "page"');

test('a website is copied into one that forces HTTPS, and whose home page redirects', async () => {
  const [staging, production] = [await wordpress(), await wordpress()];
  await sql(staging, "UPDATE wp_options SET option_value = 'Copied' WHERE option_name = 'blogname'");
  await sql(staging, `UPDATE wp_posts SET post_content = 'see http://${staging.domain}/page'`);
  await plugin(
    staging,
    'if (($_SERVER["REQUEST_URI"] ?? "") === "/" && PHP_SAPI !== "cli") { header("Location: /?lang=en", true, 302); exit; }',
  );
  await secure(production);
  expect((await look(`http://${production.domain}/`)).status).toBe(301);
  expect(await copy(staging, production)).toMatchObject({ kind: 'install.copy', status: 'succeeded' });
  expect((await look(`https://${production.domain}/?lang=en`)).body).toContain('Copied');
  expect(await contentOf(production)).toBe(
    `see https://${production.domain}:${machine.config.edgeHttps.port}/page`,
  );
});

test('the database follows the main name and its scheme', async () => {
  const shop = await wordpress();
  const main = { ...shop, domain: `${shop.name}.example.com` };
  await sql(shop, `UPDATE wp_posts SET post_content = 'see http://${shop.domain}/page'`);
  const made = await owner.client.post(`/installs/${shop.id}/domains`, { name: main.domain, primary: true });
  expect(made.status).toBe(201);
  await homeport.idle();
  expect(await lastOperation(shop.id)).toMatchObject({ status: 'succeeded', error: null });
  expect(await contentOf(shop)).toBe(`see http://${main.domain}:${machine.config.edgeHttp.port}/page`);
  await secure(main);
  expect(await contentOf(shop)).toBe(`see https://${main.domain}:${machine.config.edgeHttps.port}/page`);
  // It would be the case after a certificate has expired.
  await change(main, { secure_all_urls: false });
  expect(await contentOf(shop)).toBe(`see https://${main.domain}:${machine.config.edgeHttps.port}/page`);
  await change(shop, { primary: true });
  expect(await contentOf(shop)).toBe(`see https://${shop.domain}:${machine.config.edgeHttps.port}/page`);
});
