import { execFileSync } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import {
  existsSync,
  lchownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startS3Server } from '../../../../test/servers/s3-server.ts';
import { systemClock } from '../../../clock.ts';
import { PermanentHostError } from '../../host.ts';
import type { HostedInstall } from '../hosted-install.ts';
import {
  startWordPress,
  startWordPressMachine,
  visit,
  type WordPressMachine,
} from '../wordpress/machine.fixture.ts';
import { type Backups, type BackupsOptions, createBackups } from './backups.ts';

let machine: WordPressMachine;
let wordpress: Awaited<ReturnType<typeof startWordPress>>;
let backups: Backups;
let shop: HostedInstall;
const log = pino({ level: 'silent' });

beforeAll(async () => {
  machine = await startWordPressMachine();
  wordpress = await startWordPress(machine);
  shop = await newWebsite('shop.example');
}, 60_000);
afterAll(() => machine?.stop());
beforeEach(() => {
  backups = backupsWith({});
});

function backupsWith(options: Partial<BackupsOptions>): Backups {
  return createBackups({
    layout: machine.layout,
    databases: machine.databases,
    websites: wordpress.websites,
    repository: null,
    credentials: null,
    passwordOf: async (installId) => `password of ${installId}`,
    log,
    clock: systemClock,
    ...options,
  });
}

async function newWebsite(primaryHostname: string): Promise<HostedInstall> {
  const { install, database } = await machine.newInstall(wordpress.version);
  const address = { primaryHostname, secure: false };
  await wordpress.websites.makeFiles(install, { ...address, database });
  await wordpress.websites.fillDatabase(install, database, { ...address, title: primaryHostname });
  return {
    ref: { id: install.id, name: install.name },
    sandbox: install,
    database,
    unixUser: install.name,
    primaryHostname,
  };
}

const homeOf = ({ ref }: HostedInstall) => machine.layout.homeOf(ref.id);
const inHtdocs = (install: HostedInstall, ...path: string[]) => join(homeOf(install), 'htdocs', ...path);
const repositoryOf = ({ ref }: HostedInstall) => join(machine.layout.backups, ref.id);

function put(install: HostedInstall, path: string, content: string | Buffer): void {
  writeFileSync(inHtdocs(install, path), content);
  lchownSync(inHtdocs(install, path), install.sandbox.uid, install.sandbox.gid);
}

/** All there is of a website: files with modes, owners, times and links, and rows. */
function stateOf(install: HostedInstall): string {
  const files = execFileSync(
    'find',
    [
      'htdocs',
      'private',
      '(',
      '-type',
      'f',
      '-printf',
      '%p %m %U %G %Ts %s\\n',
      '-o',
      '-printf',
      '%p %y %m %U %l\\n',
      ')',
    ],
    { cwd: homeOf(install), encoding: 'utf8' },
  );
  const sums = execFileSync('find', ['htdocs', 'private', '-type', 'f', '-exec', 'sha256sum', '{}', '+'], {
    cwd: homeOf(install),
    encoding: 'utf8',
  });
  return [files, sums].map((text) => text.split('\n').sort().join('\n')).join('\n');
}

const posts = (install: HostedInstall) =>
  machine.databases.query(install.database, 'SELECT post_title FROM wp_posts ORDER BY ID');
const rename = (install: HostedInstall, title: string) =>
  machine.databases.query(install.database, `UPDATE wp_posts SET post_title = '${title}'`);

/** What restores and backups must never leave behind. */
async function leftovers(install: HostedInstall): Promise<string[]> {
  const scratch = existsSync(machine.layout.scratch) ? readdirSync(machine.layout.scratch) : [];
  const inHome = readdirSync(homeOf(install)).filter((name) => name.startsWith('.restore'));
  const databases = (await machine.databases.list()).filter((name) =>
    /_new$|_exchange_|_replaced_/.test(name),
  );
  return [...scratch.filter((name) => name.endsWith('.sql')), ...inHome, ...databases];
}

test('files and database come back exactly, links to WordPress are as they are now', async () => {
  put(shop, 'größe mit\nZeile.txt', 'ä');
  put(shop, 'photo.jpg', randomBytes(700_000));
  put(shop, 'sparse', 'x');
  truncateSync(inHtdocs(shop, 'sparse'), 30_000_000);
  symlinkSync('/etc/passwd', inHtdocs(shop, 'link'));
  lchownSync(inHtdocs(shop, 'link'), shop.sandbox.uid, shop.sandbox.gid);
  await machine.databases.query(shop.database, 'CREATE VIEW titles AS SELECT post_title FROM wp_posts');
  const before = stateOf(shop);
  const rows = await posts(shop);
  const id = randomUUID();
  const made = await backups.snapshot(shop, id);
  expect(made).toMatchObject({ files: expect.any(Number), sha256: expect.stringMatching(/^[0-9a-f]{64}$/) });
  expect(made.bytes).toBeGreaterThan(700_000);
  // An unchanged website takes next to no room again.
  const size = () =>
    Number(execFileSync('du', ['-sb', repositoryOf(shop)], { encoding: 'utf8' }).split('\t')[0]);
  const first = size();
  await backups.snapshot(shop, randomUUID());
  expect(size() - first).toBeLessThan(20_000);
  // The same again, also from a process that knows nothing of it.
  expect(await backupsWith({}).snapshot(shop, id)).toEqual(made);

  rmSync(inHtdocs(shop, 'photo.jpg'));
  rmSync(inHtdocs(shop, 'wp-admin'));
  put(shop, 'intruder.php', '<?php');
  await rename(shop, 'defaced');
  await machine.databases.query(shop.database, 'DROP VIEW titles; CREATE TABLE added (a INT)');
  expect(await backups.restore(shop, id, { from: shop.ref })).toEqual(made);
  expect(stateOf(shop)).toBe(before);
  expect(await posts(shop)).toEqual(rows);
  expect(await machine.databases.query(shop.database, 'SELECT COUNT(*) FROM titles')).toEqual([
    [`${rows.length}`],
  ]);
  expect(await machine.databases.query(shop.database, "SHOW TABLES LIKE '%added%'")).toEqual([]);
  expect(await machine.databases.query(shop.database, "SHOW TABLES LIKE 'homeport%'")).toEqual([]);
  expect(await leftovers(shop)).toEqual([]);

  // restic itself finds nothing amiss, and any tar unpacks what it gives.
  const restic = (...args: string[]) =>
    execFileSync('restic', ['-r', repositoryOf(shop), '--no-cache', ...args], {
      env: { PATH: process.env.PATH, RESTIC_PASSWORD: `password of ${shop.ref.id}` },
      maxBuffer: 1e9,
    });
  expect(restic('check', '--read-data').toString()).toContain('no errors were found');
  const listed = execFileSync('tar', ['-t'], {
    input: restic('dump', '--tag', id, 'latest', 'website.tar'),
    encoding: 'utf8',
  });
  expect(listed).toContain('htdocs/photo.jpg\n');
  expect(listed).not.toContain('htdocs/wp-admin\n');
});

test('another install takes a backup over, under its own name, and serves it', async () => {
  const copy = await newWebsite('copy.example');
  await machine.serve(copy.sandbox);
  await machine.databases.query(
    shop.database,
    "UPDATE wp_posts SET post_title = 'Of the shop', post_content = 'see http://shop.example:8080/page and https://other.example/'",
  );
  const id = randomUUID();
  const made = await backups.snapshot(shop, id);
  await expect(backups.restore(copy, id, { from: copy.ref })).rejects.toThrow(PermanentHostError);
  expect(await backups.restore(copy, id, { from: shop.ref })).toEqual(made);
  const rows = await machine.databases.query(
    copy.database,
    'SELECT DISTINCT post_title, post_content FROM wp_posts',
  );
  expect(rows).toEqual([['Of the shop', 'see http://copy.example:8080/page and https://other.example/']]);
  const page = (await visit(machine, copy.sandbox, '/', { host: 'copy.example' })).body.toString();
  expect(page).toContain('Of the shop');
  expect(page).not.toContain('//shop.example');
  expect(
    execFileSync(
      'find',
      [homeOf(copy), '-path', '*htdocs/*', '-not', '-user', `${copy.sandbox.uid}`, '-type', 'f'],
      { encoding: 'utf8' },
    ),
  ).toBe('');
  expect(await leftovers(copy)).toEqual([]);
  expect(existsSync(repositoryOf(copy))).toBe(false);
});

test('a damaged backup, a wrong password and a missing one touch nothing', async () => {
  const id = randomUUID();
  await backups.snapshot(shop, id);
  const before = [stateOf(shop), await posts(shop)];
  await expect(backups.restore(shop, randomUUID(), { from: shop.ref })).rejects.toThrow(/no backup/);
  const strange = backupsWith({ passwordOf: async () => 'another' });
  await expect(strange.restore(shop, id, { from: shop.ref })).rejects.toThrow(/another sealing key/);
  await expect(strange.snapshot(shop, randomUUID())).rejects.toThrow(PermanentHostError);
  const packs = execFileSync('find', [join(repositoryOf(shop), 'data'), '-type', 'f', '-size', '+100k'], {
    encoding: 'utf8',
  })
    .trim()
    .split('\n');
  const kept = packs.map((path) => [path, readFileSync(path)] as const);
  for (const [path, bytes] of kept) {
    const flipped = Buffer.from(bytes);
    for (let at = 5_000; at < bytes.length; at += 20_000) flipped.writeUInt8(bytes.readUInt8(at) ^ 1, at);
    writeFileSync(path, flipped);
  }
  await expect(backups.restore(shop, id, { from: shop.ref })).rejects.toThrow(/is damaged.*was not touched/);
  for (const [path, bytes] of kept) writeFileSync(path, bytes);
  expect([stateOf(shop), await posts(shop)]).toEqual(before);
  expect(await leftovers(shop)).toEqual([]);
  await backups.restore(shop, id, { from: shop.ref });
});

test('a signal ends a backup and a restore, and leaves nothing of them', async () => {
  const id = randomUUID();
  put(shop, 'large.bin', randomBytes(20_000_000));
  for (const ms of [30, 150, 400]) {
    const late = AbortSignal.timeout(ms);
    await expect(backups.snapshot(shop, id, late)).rejects.toThrow();
  }
  const made = await backups.snapshot(shop, id);
  const before = stateOf(shop);
  for (const ms of [30, 150, 400]) {
    const late = AbortSignal.timeout(ms);
    await expect(backups.restore(shop, id, { from: shop.ref, signal: late })).rejects.toThrow();
    expect(stateOf(shop)).toBe(before);
  }
  expect(await backups.restore(shop, id, { from: shop.ref })).toEqual(made);
  rmSync(inHtdocs(shop, 'large.bin'));
  expect(await leftovers(shop)).toEqual([]);
});

test('an archive that broke off is no backup, and is made anew', async () => {
  const id = randomUUID();
  execFileSync(
    'restic',
    [
      '-r',
      repositoryOf(shop),
      '--no-cache',
      'backup',
      '--stdin',
      '--stdin-filename',
      'website.tar',
      '--tag',
      id,
    ],
    {
      input: randomBytes(100_000),
      env: { PATH: process.env.PATH, RESTIC_PASSWORD: `password of ${shop.ref.id}` },
    },
  );
  await expect(backups.restore(shop, id, { from: shop.ref })).rejects.toThrow(/is damaged/);
  const made = await backups.snapshot(shop, id);
  expect(await backups.restore(shop, id, { from: shop.ref })).toEqual(made);
});

test('what its owner cannot read is named', async () => {
  put(shop, 'closed', 'x');
  execFileSync('chmod', ['000', inHtdocs(shop, 'closed')]);
  await expect(backups.snapshot(shop, randomUUID())).rejects.toThrow(/"htdocs\/closed" cannot be read/);
  rmSync(inHtdocs(shop, 'closed'));
});

test('nothing of another install gets into a backup by a link', async () => {
  const secret = join(machine.layout.folder, 'secret');
  mkdirSync(secret);
  writeFileSync(join(secret, 'key'), 'secret of another');
  symlinkSync(secret, inHtdocs(shop, 'stolen'));
  const id = randomUUID();
  await backups.snapshot(shop, id);
  rmSync(inHtdocs(shop, 'stolen'));
  await backups.restore(shop, id, { from: shop.ref });
  expect(execFileSync('readlink', [inHtdocs(shop, 'stolen')], { encoding: 'utf8' }).trim()).toBe(secret);
  rmSync(inHtdocs(shop, 'stolen'));
});

test('one backup goes and the others stay; then all go', async () => {
  const [one, two] = [randomUUID(), randomUUID()];
  await backups.snapshot(shop, one);
  await backups.snapshot(shop, two);
  await backups.discard(shop.ref, one);
  await backups.discard(shop.ref, one);
  await backups.discard({ id: randomUUID(), name: 'none' }, one);
  await expect(backups.restore(shop, one, { from: shop.ref })).rejects.toThrow(/no backup/);
  await backups.restore(shop, two, { from: shop.ref });
  await backups.removeAll(shop.ref.id);
  await backups.removeAll(shop.ref.id);
  expect(existsSync(repositoryOf(shop))).toBe(false);
  await expect(backups.restore(shop, two, { from: shop.ref })).rejects.toThrow(/no backup/);
});

test('a repository in S3', async () => {
  const server = await startS3Server({ buckets: ['backups'] });
  try {
    const remote = backupsWith({
      repository: `s3:${server.url}/backups/homeport`,
      credentials: { accessKeyId: 'an-id', secretAccessKey: 'a-secret-of-the-tests' },
    });
    const [one, two] = [randomUUID(), randomUUID()];
    const before = stateOf(shop);
    const made = await remote.snapshot(shop, one);
    await remote.snapshot(shop, two);
    put(shop, 'intruder.php', '<?php');
    await remote.discard(shop.ref, two);
    expect(await remote.restore(shop, one, { from: shop.ref })).toEqual(made);
    expect(stateOf(shop)).toBe(before);
    expect(server.requests.every(({ signed }) => signed)).toBe(true);
    await remote.removeAll(shop.ref.id);
    await expect(remote.restore(shop, one, { from: shop.ref })).rejects.toThrow(/no backup/);
  } finally {
    await server.close();
  }
});
