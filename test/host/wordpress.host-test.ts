import { execFile } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import ssh2 from 'ssh2';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RunningMachine } from '../../src/app/linux-host.ts';
import { checkRestore } from '../../src/features/backups/jobs.ts';
import { createHostService } from '../../src/features/hosts/service.ts';
import { PLACE_MARK } from '../../src/hosting/linux/backups/place-mark.ts';
import { linuxLayout } from '../../src/hosting/linux/machine/layout.ts';
import { field, text } from '../client.ts';
import { type Visit, visit } from '../edge.ts';
import { installName, type Person, startTestHomeport, type TestHomeport } from '../homeport.ts';
import { isLong, onlyInLong, steps } from '../rounds.ts';
import { createTestMachine, type TestMachine } from './machine.ts';
import { createPreparedMachine } from './prepared.ts';
import { addedTo, tracesOf } from './traces.ts';
import { copyAsVersion, wordpressCore } from './wordpress-core.ts';

const run = promisify(execFile);

let machine: TestMachine;
let running: RunningMachine;
let homeport: TestHomeport;
let owner: Person;
let accountId: string;
let folder: string;
/** Most tests share these two. Another website takes 1.5 s of a processor until its first page. */
let shop: { id: string; name: string };
let blog: { id: string; name: string };
let siteId: string;
let phpVersion: string | undefined;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'homeport-host-'));
  // The backups of a deleted install go with it.
  const settings = { HOMEPORT_DELETED_DAYS: '0' };
  // In the long tests, the host installs WordPress and its database server itself. test/host/prepare.ts does so with its parts.
  machine = await (isLong ? createTestMachine(settings) : createPreparedMachine(settings));
  running = await machine.start();
  homeport = await startTestHomeport({ environment: machine.environment });
  ({ accountId, owner } = await homeport.ownedAccount());
  phpVersion = (await describeMachine()).phpVersions.at(-1);
  const site = await owner.client.post('/sites', { name: 'Shop', account_id: accountId });
  siteId = text(site.body, 'id');
  shop = await wordpress({ php_version: phpVersion });
  blog = await wordpress({ site_id: siteId, environment: 'production' });
});
afterAll(async () => {
  await homeport?.remove();
  await machine?.remove();
  await rm(folder, { recursive: true, force: true });
});

const look = (address: string, headers: Record<string, string> = {}): Promise<Visit> => {
  const { edgeHttp, edgeHttps, sshListen } = machine.config;
  return visit({ hosting: { edgeHttp, edgeHttps, ssh: sshListen } }, address, headers);
};
const home = (name: string, headers = {}) => look(`http://${name}.sites.test/`, headers);
const read = async (id: string) => (await owner.client.get(`/installs/${id}`)).body;

/** A running install of real WordPress. */
async function wordpress(more: object = {}): Promise<{ id: string; name: string }> {
  const name = installName();
  const answer = await owner.client.post('/installs', { name, account_id: accountId, ...more });
  expect(answer.status).toBe(201);
  const id = text(answer.body, 'id');
  await homeport.idle();
  expect(await read(id)).toMatchObject({ status: 'active' });
  return { id, name };
}

/** A key pair for ssh: the public key, and the file of the private key. */
async function sshKey(): Promise<{ publicKey: string; file: string }> {
  const { privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'pkcs1', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
  });
  const parsed = ssh2.utils.parseKey(privateKey);
  if (parsed instanceof Error) throw parsed;
  const file = join(folder, crypto.randomUUID());
  await writeFile(file, privateKey, { mode: 0o600 });
  return { publicKey: `${parsed.type} ${parsed.getPublicSSH().toString('base64')} test`, file };
}

const SSH = [
  ...['-o', 'BatchMode=yes', '-o', 'StrictHostKeyChecking=no', '-o', 'UserKnownHostsFile=/dev/null'],
  ...['-o', 'LogLevel=ERROR', '-o', 'IdentitiesOnly=yes'],
];

function ssh(name: string, file: string, command: string) {
  const { host, port } = machine.config.sshListen;
  return run('ssh', [...SSH, '-i', file, '-p', `${port}`, `${name}@${host}`, command], { timeout: 60_000 });
}

async function sftp(name: string, file: string, batch: string) {
  const { host, port } = machine.config.sshListen;
  const script = join(folder, `${crypto.randomUUID()}.sftp`);
  await writeFile(script, batch);
  return run('sftp', [...SSH, '-i', file, '-P', `${port}`, '-b', script, `${name}@${host}`], {
    timeout: 60_000,
  });
}

describe('a new install', () => {
  test('is real WordPress, on the requested PHP', async () => {
    const { id, name } = shop;
    const page = await home(name);
    expect(page.status).toBe(200);
    expect(page.body).toContain('/wp-content/');
    expect(page.body).toContain('</html>');
    expect(page.headers['x-powered-by']).toBeUndefined();
    expect(text(await read(id), 'php_version')).toBe(phpVersion);
    expect(text(await read(blog.id), 'php_version')).toMatch(/^\d+\.\d+$/);
    expect((await look(`http://${name}.sites.test/wp-login.php`)).body).toContain('user_login');
  });

  test('is refused a PHP that no machine has', async () => {
    const refused = await owner.client.post('/installs', {
      name: installName(),
      account_id: accountId,
      php_version: '5.2',
    });
    expect(refused.status).toBe(400);
    expect(field(refused.body, 'errors', 0)).toMatchObject({ field: 'php_version' });
  });

  test('cannot have the name of a login of the machine', async () => {
    const refused = await owner.client.post('/installs', { name: 'www-data', account_id: accountId });
    expect(refused.status).toBe(400);
    expect(field(refused.body, 'errors', 0)).toMatchObject({ code: 'reserved' });
  });
});

async function describeMachine(): Promise<{ phpVersions: string[] }> {
  const row = await homeport.platform.database.reader
    .selectFrom('hosts')
    .select('description')
    .executeTakeFirstOrThrow();
  const versions = field(row.description, 'phpVersions');
  return { phpVersions: Array.isArray(versions) ? versions.map(String) : [] };
}

onlyInLong(test)('the WordPress of an install is read by its host', async () => {
  const { id } = shop;
  const started = await owner.client.post(`/installs/${id}/wordpress/refresh`);
  expect(started.status).toBe(202);
  await homeport.idle();
  const { body } = await owner.client.get(`/installs/${id}/wordpress`);
  expect(body).toMatchObject({
    core: { version: expect.any(String) },
    administrators: [{ login: 'admin' }],
    read_at: expect.any(String),
    error: null,
  });
  expect(field(body, 'plugins')).toContainEqual(
    expect.objectContaining({ file: 'homeport.php', status: 'must_use' }),
  );
  expect(field(body, 'themes')).toContainEqual(expect.objectContaining({ status: 'active', bundled: true }));
});

test('its host measures edge and PHP', async () => {
  const { host } = running;
  expect((await home(shop.name)).status).toBe(200);
  await expect.poll(async () => (await host.readFigures()).edge.answers['2xx']).toBeGreaterThan(0);
  const { edge, php, lateCron } = await host.readFigures();
  expect(edge.bytes).toBeGreaterThan(1_000);
  expect(edge.cacheRequests).toBeGreaterThan(0);
  expect(php?.running).toBeGreaterThan(0);
  expect(php?.waiting).not.toBeNull();
  expect(lateCron).toBe(0);
});

test('a login link opens wp-admin once, beside cached pages, and its token is in no file', async () => {
  const { id, name } = shop;
  await home(name);
  expect((await home(name)).headers['x-cache']).toBe('HIT');
  const made = await owner.client.post(`/installs/${id}/wordpress/login_links`, { user: 'admin' });
  expect(made.status).toBe(201);
  const link = new URL(text(made.body, 'url'));
  expect(link.hostname).toBe(`${name}.sites.test`);
  const first = await look(link.href);
  expect(first).toMatchObject({
    status: 302,
    headers: {
      location: `http://${name}.sites.test/wp-admin/`,
      'cache-control': expect.stringContaining('no-store'),
      'referrer-policy': 'no-referrer',
    },
  });
  if (isLong) {
    const cookie = (first.headers['set-cookie'] ?? []).map((line) => line.split(';')[0]).join('; ');
    const profile = await look(`http://${name}.sites.test/wp-admin/profile.php`, { cookie });
    expect(profile.status).toBe(200);
    expect(profile.body).toMatch(/name="user_login"[^>]*value="admin"/);
  }
  const second = await look(link.href);
  expect(second.status).toBe(403);
  expect(second.headers['set-cookie']).toBeUndefined();
  expect((await home(name)).headers['x-cache']).toBe('HIT');

  const token = link.searchParams.get('token') ?? '';
  const logs = linuxLayout(machine.folder, machine.runFolder).logsOf(id);
  await expect
    .poll(
      async () => (await run('grep', ['-rlF', 'homeport-login', logs]).catch(() => ({ stdout: '' }))).stdout,
    )
    .toContain('.log');
  await expect(run('grep', ['-rlF', token, machine.folder, homeport.config.dataDir])).rejects.toMatchObject({
    code: 1,
    stdout: '',
  });
});

describe('caches', () => {
  test('a purged page is generated again at once, without affecting other installs', async () => {
    const [one, other] = [shop, blog];
    for (const { name } of [one, other]) {
      await home(name);
      expect((await home(name)).headers['x-cache']).toBe('HIT');
    }
    expect((await owner.client.post(`/installs/${one.id}/purge_cache`, { type: 'page' })).status).toBe(202);
    await homeport.idle();
    expect((await home(one.name)).headers['x-cache']).toBe('MISS');
    expect((await home(other.name)).headers['x-cache']).toBe('HIT');

    const feed = () => look(`http://${one.name}.sites.test/feed/`);
    await feed();
    const body = { type: 'page', paths: ['/?page=2'] };
    expect((await owner.client.post(`/installs/${one.id}/purge_cache`, body)).status).toBe(202);
    await homeport.idle();
    expect((await home(one.name)).headers['x-cache']).toBe('MISS');
    expect(await feed()).toMatchObject({ status: 200, headers: { 'x-cache': 'HIT' } });
  });

  onlyInLong(test)('the next visitor sees what changed, and no message purges another website', async () => {
    const [one, other] = [await wordpress(), await wordpress()];
    const { publicKey, file } = await sshKey();
    await owner.client.post('/ssh_keys', { public_key: publicKey });
    const php = async (code: string, name = one.name) =>
      (await ssh(name, file, `cd htdocs && php -r 'require "wp-load.php"; ${code}'`)).stdout;
    const page = (path: string) => look(`http://${one.name}.sites.test${path}`);
    const states = async () =>
      Promise.all([one, other].map(async ({ name }) => (await home(name)).headers['x-cache']));
    for (const { name } of [one, other]) await home(name);
    expect(await states()).toEqual(['HIT', 'HIT']);

    await php(
      'wp_insert_post(["post_title" => "Contact", "post_type" => "page", "post_status" => "publish"]);',
    );
    await page('/contact/');
    const id = await php('echo wp_insert_post(["post_title" => "Fresh news", "post_status" => "draft"]);');
    for (const { name } of [one, other]) await home(name);
    const socket = (await php('echo HOMEPORT["purge"];')).replace(one.id, other.id);
    const answers = await php(`
      $ask = fn($line) => fwrite($s = stream_socket_client("unix://" . HOMEPORT["purge"]), $line . "\\n") ? fgets($s) : null;
      $lines = ["", "{", "everything", json_encode(["everything" => true, "install" => "${other.id}"]),
        json_encode(["paths" => ["http://${other.name}.sites.test/"]]), json_encode(["paths" => ["/../${other.id}/"]]),
        json_encode(["paths" => ["//${other.name}.sites.test/"]]), json_encode(["paths" => [str_repeat("/x", 1200)]]),
        json_encode(["paths" => array_fill(0, 2000, "/")])];
      echo json_encode([array_map($ask, $lines), @stream_socket_client("unix://${socket}")]);`);
    expect(JSON.parse(answers)).toEqual([Array.from({ length: 9 }, () => false), false]);
    expect(await states()).toEqual(['HIT', 'HIT']);

    await php(`wp_update_post(["ID" => ${id}, "post_status" => "publish"]);`);
    expect((await home(one.name)).body).toContain('Fresh news');
    expect((await home(other.name)).headers['x-cache']).toBe('HIT');
    expect(await page('/contact/')).toMatchObject({ status: 200, headers: { 'x-cache': 'HIT' } });
    expect((await page('/fresh-news/')).status).toBe(200);
    const comment = `["comment_post_ID" => ${id}, "comment_content" => "Well said", "comment_approved" => 0]`;
    const commentId = await php(`echo wp_insert_comment(${comment});`);
    expect((await page('/fresh-news/')).body).not.toContain('Well said');
    await php(`wp_set_comment_status(${commentId}, "approve");`);
    expect((await page('/fresh-news/')).body).toContain('Well said');
    await php(`wp_trash_post(${id});`);
    expect((await home(one.name)).body).not.toContain('Fresh news');
  });

  test('visitors who are logged in or have a cart never get a cached page', async () => {
    const { name } = shop;
    await home(name);
    for (const cookie of ['wordpress_logged_in_x=1', 'woocommerce_items_in_cart=1']) {
      expect((await home(name, { cookie })).headers['x-cache']).toBe('BYPASS');
    }
  });

  test.each(steps([], ['object', 'all']))(
    'a purge of the type "%s" empties Redis; "all" also the page cache',
    async (type) => {
      // One purge of a minute may empty the Redis of a website.
      const { id, name } = type === 'all' ? shop : await wordpress();
      const { publicKey, file } = await sshKey();
      await owner.client.post('/ssh_keys', { public_key: publicKey });
      const count = async () => {
        const code =
          'require "wp-load.php"; echo wp_using_ext_object_cache() ? "redis " : "none "; echo wp_cache_get("probe", "test") ?: "empty";';
        return (await ssh(name, file, `cd htdocs && php -r '${code}'`)).stdout;
      };
      await ssh(
        name,
        file,
        `cd htdocs && php -r 'require "wp-load.php"; wp_cache_set("probe", "kept", "test");'`,
      );
      expect(await count()).toBe('redis kept');
      await home(name);
      expect((await home(name)).headers['x-cache']).toBe('HIT');
      await owner.client.post(`/installs/${id}/purge_cache`, { type });
      await homeport.idle();
      expect(await count()).toBe('redis empty');
      expect((await home(name)).headers['x-cache']).toBe(type === 'all' ? 'MISS' : 'HIT');
    },
  );
});

describe('SSH and SFTP', () => {
  test('a key gives access to its owner’s installs by files and a shell with PHP, until it is removed', async () => {
    const [one, other] = [shop, blog];
    const { publicKey, file } = await sshKey();
    const key = await owner.client.post('/ssh_keys', { public_key: publicKey });
    expect((await ssh(one.name, file, 'php -r "echo PHP_VERSION;"')).stdout).toMatch(/^\d+\.\d+/);
    await expect(ssh(one.name, file, `ls ${machine.folder}/installs/${other.id}`)).rejects.toThrow();
    const hello = join(folder, 'hello.txt');
    await writeFile(hello, 'hello', { mode: 0o644 });
    await sftp(one.name, file, `put ${hello} htdocs/hello.txt\n`);
    expect((await look(`http://${one.name}.sites.test/hello.txt`)).body).toBe('hello');
    const uuid = text(key.body, 'uuid');
    expect((await owner.client.delete(`/ssh_keys/${uuid}`)).status).toBe(204);
    await expect(ssh(one.name, file, 'true')).rejects.toThrow(/Permission denied/);
  });
});

onlyInLong(describe)('backups', () => {
  test('a restore brings files and posts back', async () => {
    const { id, name } = await wordpress();
    const { publicKey, file } = await sshKey();
    await owner.client.post('/ssh_keys', { public_key: publicKey });
    const php = (code: string) => ssh(name, file, `cd htdocs && php -r 'require "wp-load.php"; ${code}'`);
    await php(
      'wp_insert_post(["post_title" => "Worth keeping", "post_status" => "publish"]); file_put_contents("kept.txt", "kept");',
    );
    const asked = await owner.client.post(`/installs/${id}/backups`, {
      description: 'before',
      notification_emails: [owner.email],
    });
    expect(asked.status).toBe(202);
    const backup = text(asked.body, 'id');
    await homeport.idle();
    expect((await owner.client.get(`/installs/${id}/backups/${backup}`)).body).toMatchObject({
      status: 'completed',
    });

    await php(
      'foreach (get_posts() as $post) wp_delete_post($post->ID, true); unlink("kept.txt"); file_put_contents("added.txt", "");',
    );
    await homeport.services.backups.requestRestore(backup);
    await homeport.idle();
    const titles = await php('foreach (get_posts() as $post) echo $post->post_title, "\\n";');
    expect(titles.stdout).toContain('Worth keeping');
    expect((await look(`http://${name}.sites.test/kept.txt`)).body).toBe('kept');
    expect((await look(`http://${name}.sites.test/added.txt`)).status).toBe(404);

    const copy = await wordpress();
    await homeport.services.backups.requestRestore(backup, copy.name);
    await homeport.idle();
    const page = await home(copy.name);
    expect(page.body).toContain('Worth keeping');
    expect(page.body).toContain(`http://${copy.name}.sites.test`);
    expect(page.body).not.toContain(`http://${name}.sites.test`);
    expect((await home(name)).body).toContain('Worth keeping');

    await php(
      'wp_insert_post(["post_title" => "Only the posts", "post_status" => "publish"]); update_option("blogname", "Other name");',
    );
    const copied = await owner.client.post('/install_copy', {
      source_environment_id: id,
      destination_environment_id: copy.id,
      notification_emails: [],
      custom_options: { include_files: false, include_db: true, db_tables: ['wp_posts'] },
    });
    expect(copied.status).toBe(202);
    const location = String(copied.headers.location).replace('/v1', '');
    // The backup of the source comes first.
    const operation = await owner.client.get(`${location}?wait=60`);
    expect(operation.body).toMatchObject({ kind: 'install.copy', status: 'succeeded' });
    const merged = await home(copy.name);
    expect(merged.body).toContain('Only the posts');
    expect(merged.body).not.toContain('Other name');
    expect((await php('echo get_option("blogname");')).stdout).toBe('Other name');
  });
});

describe('domains', () => {
  test('are served over HTTP and HTTPS, redirected, and forced to HTTPS', async () => {
    const { id, name } = shop;
    const main = `${name}.example.com`;
    const made = await owner.client.post(`/installs/${id}/domains`, { name: main, primary: true });
    expect(made.status).toBe(201);
    const domain = text(made.body, 'id');
    await owner.client.post(`/installs/${id}/domains`, { name: `www.${main}`, redirect_to: domain });
    await homeport.idle();

    expect((await look(`http://${main}/`)).body).toContain(`http://${main}/`);
    const secure = await look(`https://${main}/`);
    expect(secure.status).toBe(200);
    expect(secure.certificateNames).toContain(main);
    const redirected = await look(`http://www.${main}/path?query=1`);
    expect(redirected.status).toBe(301);
    expect(redirected.headers.location).toBe(`http://${main}/path?query=1`);
    expect((await look(`http://nobody.${main}/`)).status).toBe(404);
  });
});

describe('a site transfer', () => {
  test('leaves the website as it is, and gives its shell to the new owner', async () => {
    const { id, name } = blog;
    const buyer = await homeport.ownedAccount();
    const [former, next] = [await sshKey(), await sshKey()];
    await owner.client.post('/ssh_keys', { public_key: former.publicKey });
    await buyer.owner.client.post('/ssh_keys', { public_key: next.publicKey });
    const write = 'echo "<?php echo get_current_user();" > htdocs/who.php; id -u';
    const { stdout: uid } = await ssh(name, former.file, write);
    await expect(ssh(name, next.file, 'true')).rejects.toThrow(/Permission denied/);

    const asked = await owner.client.post(`/sites/${siteId}/site_transfers`, {
      destination_account_id: buyer.accountId,
    });
    const offer = `/accounts/${buyer.accountId}/site_transfers/${text(asked.body, 'id')}`;
    expect((await buyer.owner.client.post(`${offer}/accept`)).status).toBe(200);
    let isMoving = true;
    const statuses = new Set<number>();
    const visits = (async () => {
      for (; isMoving; await pause(50)) statuses.add((await home(name)).status);
    })();
    await homeport.idle();
    isMoving = false;
    await visits;
    expect([...statuses]).toEqual([200]);

    expect((await owner.client.get(`/installs/${id}`)).status).toBe(404);
    expect((await buyer.owner.client.get(`/installs/${id}`)).body).toMatchObject({ status: 'active' });
    await expect(ssh(name, former.file, 'true')).rejects.toThrow(/Permission denied/);
    expect((await ssh(name, next.file, 'id -u')).stdout).toBe(uid);
    expect((await look(`http://${name}.sites.test/who.php`)).body).toBe(name);
    const purge = await buyer.owner.client.post(`/installs/${id}/purge_cache`, { type: 'all' });
    expect(purge.status).toBe(202);
    await homeport.idle();
    expect((await home(name)).headers['x-cache']).toBe('MISS');
  });
});

onlyInLong(describe)('a trial restore', () => {
  test('creates a scratch install that answers, reports the duration, and leaves nothing', async () => {
    const { id } = await wordpress();
    await owner.client.post(`/installs/${id}/backups`, {
      description: 'sample',
      notification_emails: [owner.email],
    });
    await homeport.idle();
    const { database, queue } = homeport.platform;
    const backup = await database.reader
      .selectFrom('backups')
      .select('id')
      .where('install_id', '=', id)
      .executeTakeFirstOrThrow();
    const before = await tracesOf(machine);
    const scratch_id = crypto.randomUUID();
    await database.write((transaction) =>
      queue.enqueue(transaction, checkRestore, {
        payload: { backup_id: backup.id, install_id: id, scratch_id },
        lane: null,
      }),
    );
    await homeport.idle();
    const checks = await database.reader.selectFrom('restore_checks').selectAll().execute();
    expect(checks).toEqual([expect.objectContaining({ install_id: id, backup_id: backup.id, reason: null })]);
    expect(checks[0]?.took_ms).toBeGreaterThan(0);
    expect(addedTo(before, await tracesOf(machine))).toEqual([]);
  });
});

onlyInLong(describe)('WordPress versions', () => {
  test('coexist: an install is switched to another one, and back', async () => {
    const { id, name } = await wordpress();
    const before = text(await wordpressVersionOf(id), 'wordpress_version');
    const newer = join(folder, 'newer');
    await copyAsVersion(wordpressCore(), newer, '99.1');
    expect(await running.host.addWordpress(newer)).toBe('99.1');
    const hosts = createHostService(homeport.platform);
    await hosts.note(await running.host.describe());
    const feed = async () => (await look(`http://${name}.sites.test/feed/`)).body;

    for (const version of ['99.1', before]) {
      await homeport.services.installs.switchWordpress(name, version);
      await homeport.idle();
      expect(await wordpressVersionOf(id)).toEqual({ wordpress_version: version });
      expect(await feed()).toContain(`<generator>https://wordpress.org/?v=${version}</generator>`);
      expect((await home(name)).status).toBe(200);
    }
    await expect(homeport.services.installs.switchWordpress(name, '1.0')).rejects.toThrow(
      /has no WordPress 1.0/,
    );
  });
});

const wordpressVersionOf = (id: string) =>
  homeport.platform.database.reader
    .selectFrom('installs')
    .select('wordpress_version')
    .where('id', '=', id)
    .executeTakeFirstOrThrow();

describe('deleting', () => {
  test('leaves no user, database, process, file, cache, key or cgroup behind', async () => {
    // The mark of the place of backups stays.
    const before = [...(await tracesOf(machine)), `/backups/${PLACE_MARK}`];
    const { id, name } = await wordpress();
    await home(name);
    await owner.client.post(`/installs/${id}/backups`, {
      description: 'one',
      notification_emails: [owner.email],
    });
    await homeport.idle();
    expect((await tracesOf(machine)).length).toBeGreaterThan(before.length + 5);
    expect((await owner.client.delete(`/installs/${id}`)).status).toBe(204);
    await homeport.idle();
    expect(addedTo(before, await tracesOf(machine))).toEqual([]);
    expect((await home(name)).status).toBe(404);
    expect(await readFile('/var/lib/extrausers/passwd', 'utf8')).not.toContain(name);
  });
});
