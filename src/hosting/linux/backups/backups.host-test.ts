import { execFileSync } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  lchownSync,
  mkdirSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { onlyInLong } from '../../../../test/rounds.ts';
import { PermanentHostError } from '../../contract/errors.ts';
import type { HostedInstall } from '../isolation/hosted-install.ts';
import { startWordPress, visit } from '../wordpress/machine.fixture.ts';
import { type BackupMachine, startBackupMachine } from './backups.fixture.ts';
import type { Backups } from './backups.ts';

let machine: BackupMachine;
let wordpress: Awaited<ReturnType<typeof startWordPress>>;
let backups: Backups;
let shop: HostedInstall;

beforeAll(async () => {
  machine = await startBackupMachine();
  rmSync(machine.layout.cores, { recursive: true });
  wordpress = await startWordPress(machine);
  backups = machine.backupsWith({ websites: wordpress.websites });
  shop = await newWordPress('shop.example');
});
afterAll(() => machine?.stop());

async function newWordPress(primaryHostname: string): Promise<HostedInstall> {
  const made = await machine.newInstall(wordpress.version);
  const site = { primaryHostname, secure: false };
  await wordpress.websites.makeFiles(made.install, { ...site, database: made.database });
  await wordpress.websites.fillDatabase(made.install, made.database, { ...site, title: primaryHostname });
  return machine.hosted(made, primaryHostname);
}

test('files and database come back exactly, links to WordPress as they are now', async () => {
  const { databases, inHtdocs, put, filesOf } = machine;
  const query = (sql: string) => databases.query(shop.database, sql);
  put(shop, 'größe mit\nZeile.txt', 'ä');
  put(shop, 'photo.jpg', randomBytes(700_000));
  put(shop, 'sparse', 'x');
  truncateSync(inHtdocs(shop, 'sparse'), 30_000_000);
  symlinkSync('/etc/passwd', inHtdocs(shop, 'link'));
  lchownSync(inHtdocs(shop, 'link'), shop.sandbox.uid, shop.sandbox.gid);
  // A backup must not bring back a session of the database's page that has ended.
  const sessions = join(machine.layout.uploadsOf(shop.ref.id), 'homeport-database');
  mkdirSync(sessions, { recursive: true });
  writeFileSync(join(sessions, 'sess_ended'), '');
  await query('CREATE VIEW titles AS SELECT post_title FROM wp_posts');
  const before = filesOf(shop);
  const titles = await query('SELECT post_title FROM wp_posts ORDER BY ID');
  const id = randomUUID();
  const written: number[] = [];
  const made = await backups.snapshot(shop, id, undefined, (done) => void written.push(done));
  expect(written.at(-1)).toBeGreaterThan(700_000);
  expect(made).toMatchObject({ files: expect.any(Number), sha256: expect.stringMatching(/^[0-9a-f]{64}$/) });
  expect(made.bytes).toBeGreaterThan(700_000);

  // An unchanged website takes next to no room again.
  const size = () =>
    Number(execFileSync('du', ['-sb', machine.repositoryOf(shop)], { encoding: 'utf8' }).split('\t')[0]);
  const first = size();
  await backups.snapshot(shop, randomUUID());
  expect(size() - first).toBeLessThan(20_000);
  // The same again is the same backup, also to a process that knows nothing of it.
  expect(await machine.backupsWith().snapshot(shop, id)).toEqual(made);

  rmSync(inHtdocs(shop, 'photo.jpg'));
  rmSync(inHtdocs(shop, 'wp-admin'));
  put(shop, 'intruder.php', '<?php');
  await query("UPDATE wp_posts SET post_title = 'defaced'; DROP VIEW titles; CREATE TABLE added (a INT)");
  const unpacked: number[] = [];
  const report = (done: number) => void unpacked.push(done);
  const restoreId = randomUUID();
  expect(await backups.restore(shop, id, { from: shop.ref, restoreId, report })).toEqual(made);
  // Repeated because its answer was lost, it takes nothing away that was written since.
  put(shop, 'since.txt', 'since');
  expect(await backups.restore(shop, id, { from: shop.ref, restoreId })).toEqual(made);
  expect(existsSync(inHtdocs(shop, 'since.txt'))).toBe(true);
  rmSync(inHtdocs(shop, 'since.txt'));
  expect(unpacked.at(-1)).toBeGreaterThan(700_000);
  expect(filesOf(shop)).toBe(before);
  expect(await query('SELECT post_title FROM wp_posts ORDER BY ID')).toEqual(titles);
  expect(await query('SELECT COUNT(*) FROM titles')).toEqual([[`${titles.length}`]]);
  expect(await query("SHOW TABLES LIKE 'added'")).toEqual([]);
  expect(await query("SHOW TABLES LIKE 'homeport%'")).toEqual([]);
  expect(await machine.leftoversOf(shop)).toEqual([]);

  // restic itself finds nothing amiss, and any tar unpacks what it gives.
  expect(machine.restic(shop, ['check', '--read-data']).toString()).toContain('no errors were found');
  const archive = machine.restic(shop, ['dump', '--tag', id, 'latest', 'website.tar']);
  const listed = execFileSync('tar', ['-t', '-f', '-'], { input: archive, encoding: 'utf8' });
  expect(listed).toContain('htdocs/photo.jpg\n');
  expect(listed).toContain('database.sql\n');
  expect(listed).not.toContain('htdocs/wp-admin\n');
  expect(listed).not.toContain('sess_ended');
});

onlyInLong(test)(
  'a backup with a closed document root is restored so that visitors can read it',
  async () => {
    const { inHtdocs, put } = machine;
    put(shop, 'photo.png', 'x');
    // The mode of a file is its owner's choice, and that of the document root the platform's.
    chmodSync(inHtdocs(shop, 'photo.png'), 0o600);
    chmodSync(inHtdocs(shop), 0o700);
    const id = randomUUID();
    await backups.snapshot(shop, id);
    await backups.restore(shop, id, { from: shop.ref });
    const modes = [inHtdocs(shop), inHtdocs(shop, 'photo.png')].map((path) => statSync(path).mode & 0o777);
    expect(modes).toEqual([0o755, 0o600]);
  },
);

onlyInLong(test)('another install takes a backup over, under its own name, and serves it', async () => {
  const { databases, homeOf } = machine;
  const copy = await newWordPress('copy.example');
  await machine.serve(copy.sandbox);
  const content = (name: string) => `see http://${name}:8080/page and https://other.example/`;
  await databases.query(
    shop.database,
    `UPDATE wp_posts SET post_title = 'Of the shop', post_content = '${content('shop.example')}'`,
  );
  const id = randomUUID();
  const made = await backups.snapshot(shop, id);
  await expect(backups.restore(copy, id, { from: copy.ref })).rejects.toThrow(PermanentHostError);
  expect(await backups.restore(copy, id, { from: shop.ref })).toEqual(made);
  expect(
    await databases.query(copy.database, 'SELECT DISTINCT post_title, post_content FROM wp_posts'),
  ).toEqual([['Of the shop', content('copy.example')]]);
  const page = await visit(machine, copy.sandbox, '/', { host: 'copy.example' });
  expect(page.status).toBe(200);
  expect(page.body).toContain('Of the shop');
  expect(page.body).not.toContain('//shop.example');
  const foreign = ['htdocs', 'private', '-type', 'f', '-not', '-uid', `${copy.sandbox.uid}`];
  expect(execFileSync('find', foreign, { cwd: homeOf(copy), encoding: 'utf8' })).toBe('');
  expect(await machine.leftoversOf(copy)).toEqual([]);
  expect(existsSync(machine.repositoryOf(copy))).toBe(false);
});

test('a website that exceeds its limits is refused before anything is backed up', async () => {
  const limits = { bytes: 1024 ** 3, files: null };
  const limited = machine.backupsWith({ layout: { ...machine.layout, limits } });
  const large = await newWordPress('large.example');
  machine.put(large, 'sparse', 'x');
  truncateSync(machine.inHtdocs(large, 'sparse'), 64 * 1024 ** 3);
  const refused = limited.snapshot(large, randomUUID());
  await expect(refused).rejects.toBeInstanceOf(PermanentHostError);
  await expect(refused).rejects.toThrow(
    /^Disk quota exceeded: .* 1 GB in all, .* Delete files, then request the backup again\.$/,
  );
  expect(existsSync(machine.repositoryOf(large))).toBe(false);
  truncateSync(machine.inHtdocs(large, 'sparse'), 1000);
  expect(await limited.snapshot(large, randomUUID())).toMatchObject({ files: expect.any(Number) });
});
