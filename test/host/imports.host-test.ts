import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { linuxLayout } from '../../src/hosting/linux/machine/layout.ts';
import { text } from '../client.ts';
import { visit } from '../edge.ts';
import { installName, type Person, startTestHomeport, type TestHomeport } from '../homeport.ts';
import { onlyInLong } from '../rounds.ts';
import type { TestMachine } from './machine.ts';
import { createPreparedMachine } from './prepared.ts';

const run = promisify(execFile);

let machine: TestMachine;
let homeport: TestHomeport;
let owner: Person;
let accountId: string;
let shop: { id: string; name: string; domain: string };
/** The website of the former host, as it is packed. */
let former: string;

beforeAll(async () => {
  machine = await createPreparedMachine();
  await machine.start();
  homeport = await startTestHomeport({ environment: machine.environment });
  ({ accountId, owner } = await homeport.ownedAccount());
  const name = installName();
  const made = await owner.client.post('/installs', { name, account_id: accountId });
  await homeport.idle();
  shop = { id: text(made.body, 'id'), name, domain: `${name}.sites.test` };
  former = await mkdtemp(join(tmpdir(), 'former-'));
  await makeFormer();
});
afterAll(async () => {
  await homeport?.remove();
  await machine?.remove();
  if (former) await rm(former, { recursive: true });
});

const homeOf = () => `${machine.folder}/installs/${shop.id}`;
const client = (program: string, ...args: string[]) => {
  const socket = linuxLayout(machine.folder, machine.runFolder).mariadbSocket;
  const database = `hp_${shop.id.replaceAll('-', '')}`;
  return run(program, [`--socket=${socket}`, ...args, database], { maxBuffer: 1e8 });
};
const sql = async (statements: string) =>
  (await client('mariadb', '-N', '-B', '-e', statements)).stdout.trimEnd();

/** A website with another address and table prefix, made from the new one of the install. */
async function makeFormer(): Promise<void> {
  const { stdout } = await client('mariadb-dump', '--skip-comments');
  const dump = stdout
    .replaceAll('`wp_', '`old_')
    .replaceAll("'wp_user_roles'", "'old_user_roles'")
    .replaceAll("'wp_capabilities'", "'old_capabilities'")
    .replaceAll(`http://${shop.domain}:${machine.config.edgeHttp.port}`, 'https://www.former.example')
    .replaceAll('utf8mb4_unicode_520_ci', 'utf8mb4_0900_ai_ci');
  const rows = `USE former;
UPDATE \`former\`.\`old_options\` SET option_value = 'Imported' WHERE option_name = 'blogname';
UPDATE old_posts SET post_content = 'see https://former.example/page for über';
`;
  await run('sh', ['-c', 'mkdir -p wp-content/plugins/own wp-content/mu-plugins'], { cwd: former });
  for (const [path, content] of [
    ['dump.sql', dump + rows],
    ['wp-content/plugins/own/own.php', '<?php /* Plugin Name: Own */'],
    ['wp-content/object-cache.php', '<?php exit("the former host");'],
    ['wp-config.php', "<?php\n$table_prefix = 'old_';"],
  ] as const) {
    await put(join(former, path), content);
  }
}

async function put(path: string, content: string): Promise<void> {
  const { writeFile } = await import('node:fs/promises');
  await writeFile(path, content);
}

/** Packs the former website into the private folder of the install. */
async function pack(name: string): Promise<string> {
  const archive = join(homeOf(), 'private', name);
  await run('tar', ['--create', '--gzip', `--file=${archive}`, '.'], { cwd: former });
  await run('chown', [`--reference=${homeOf()}/private`, archive]);
  return `private/${name}`;
}

/** Resolves with the ended operation. */
async function importWebsite(body: object): Promise<unknown> {
  const asked = await owner.client.post(`/installs/${shop.id}/imports`, body);
  expect(asked.status).toBe(202);
  const path = String(asked.headers.location).replace('/v1', '');
  for (;;) {
    const { body: operation } = await owner.client.get(`${path}?wait=60`);
    if (!['queued', 'running'].includes(text(operation, 'status'))) return operation;
  }
}

async function home(): Promise<string> {
  const { edgeHttp, edgeHttps, sshListen } = machine.config;
  const address = `http://${shop.domain}/`;
  return (await visit({ hosting: { edgeHttp, edgeHttps, ssh: sshListen } }, address)).body;
}

const restores = async () => {
  const { body } = await owner.client.get(`/operations?install_id=${shop.id}&kind=backup.restore`);
  return body;
};

onlyInLong(test)('an archive that is refused changes nothing', async () => {
  const odd = join(former, 'wp-content/two\nlines');
  await put(odd, '');
  const path = await pack('odd.tar.gz');
  await rm(odd);
  expect(await importWebsite({ source: 'file', path })).toMatchObject({
    kind: 'install.import',
    status: 'failed',
    error: {
      code: 'import_refused',
      message: expect.stringContaining('contains a control character'),
    },
  });
  expect(await importWebsite({ source: 'file', path: 'private/absent.zip' })).toMatchObject({
    error: { code: 'import_refused', message: expect.stringContaining('"absent.zip" does not exist') },
  });
  // The firewall refuses addresses of this machine.
  expect(await importWebsite({ source: 'url', url: 'https://127.0.0.1:1/a.zip' })).toMatchObject({
    error: {
      code: 'import_refused',
      message: expect.stringContaining('could not be downloaded from 127.0.0.1'),
    },
  });
  // An SSH server listens there, which the firewall hides from the sandbox, too.
  expect((await owner.client.post(`/installs/${shop.id}/import_key`)).status).toBe(201);
  const { port } = machine.config.sshListen;
  const ssh = { source: 'ssh', host: '127.0.0.1', port, user: 'root', path: '/srv' };
  expect(await importWebsite(ssh)).toMatchObject({
    error: {
      code: 'import_refused',
      message: expect.stringContaining(`No SSH server answers at 127.0.0.1:${port}`),
    },
  });
  await homeport.idle();
  expect(await restores()).toMatchObject({ count: 0 });
  expect(await home()).toContain(shop.name);
});

onlyInLong(test)('an imported website that does not answer is replaced by its checkpoint', async () => {
  const breaking = join(former, 'wp-content/mu-plugins/breaking.php');
  await put(breaking, '<?php if (PHP_SAPI !== "cli") { http_response_code(500); exit("broken"); }');
  const path = await pack('broken.tar.gz');
  await rm(breaking);
  expect(await importWebsite({ source: 'file', path })).toMatchObject({
    status: 'failed',
    error: { code: 'host_refused', message: expect.stringContaining('answers 500: broken') },
  });
  await homeport.idle();
  expect(await restores()).toMatchObject({ count: 1, results: [{ status: 'succeeded' }] });
  expect(await home()).toContain(shop.name);
  expect(await sql("SHOW TABLES LIKE 'old_%'")).toBe('');
});

test('a website moves in, with its own table prefix and the address of the install', async () => {
  const path = await pack('website.tar.gz');
  expect(await importWebsite({ source: 'file', path })).toMatchObject({
    status: 'succeeded',
    result: { checkpoint_id: expect.any(String) },
  });
  expect(await home()).toContain('<title>Imported');
  expect(await sql('SELECT DISTINCT post_content FROM old_posts WHERE post_type = "page"')).toBe(
    `see http://${shop.domain}:${machine.config.edgeHttp.port}/page for über`,
  );
  expect(await sql("SELECT COUNT(*) FROM old_options WHERE option_value LIKE '%former.example%'")).toBe('0');
  expect(await sql("SHOW TABLES LIKE 'wp_%'")).toBe('');
  const { stdout } = await run('find', ['-newermt', '2020-01-01', '-printf', '%P %u\n'], {
    cwd: `${homeOf()}/htdocs/wp-content`,
  });
  expect(stdout).toContain(`plugins/own/own.php ${shop.name}\n`);
  const { stdout: cache } = await run('cat', [`${homeOf()}/htdocs/wp-content/object-cache.php`]);
  expect(cache).toContain('HOMEPORT_LIBRARY');
});
