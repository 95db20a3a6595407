import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { websiteParts } from '../../src/app/embedded-websites.ts';
import { discardBackup, discardCopyBackups } from '../../src/features/backups/jobs.ts';
import { adoptionKind } from '../../src/features/backups/platform-copies/job-kinds.ts';
import { sealPlace } from '../../src/features/backups/platform-copies/place.ts';
import { applyInstall } from '../../src/features/websites/installs/jobs.ts';
import { HOUR_MS } from '../../src/lib/durations.ts';
import { MANIFEST_FILE, manifestText, parseManifest } from '../../src/platform-backup/manifest.ts';
import { field, text } from '../client.ts';
import { silent } from '../database.ts';
import { visit } from '../edge.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../homeport.ts';
import { onlyInLong } from '../rounds.ts';
import { type S3Server, startS3Server } from '../servers/s3-server.ts';
import { call, callJson } from './call-homeport.ts';
import type { Environment } from './run-homeport.ts';

const CREDENTIALS = { accessKeyId: 'backup', secretAccessKey: randomBytes(12).toString('hex') };

/** A backup whose job has not begun. */
const WAITING = {
  ...{ description: '', notification_emails: '[]', status: 'requested' as const },
  ...{ bytes: null, files: null, sha256: null, reason: null, requested_by: null },
  ...{ created_at: '2026-01-01T00:00:00.000Z', finished_at: null },
};

let server: S3Server;
let homeport: TestHomeport;
let environment: Environment;
let accountId: string;
let owner: Person;
let install: { id: string; name: string };
/** The first platform backup has the first page, the second one the second page. */
let first: string;
let second: string;
/** A backup of the install, which is in all platform backups. */
let own: string;

beforeAll(async () => {
  server = await startS3Server({ credentials: CREDENTIALS, buckets: ['platform'] });
  homeport = await startTestHomeport();
  const { dataDir, databaseUrl } = homeport.place.settings;
  environment = {
    HOMEPORT_DATA_DIR: dataDir,
    ...(databaseUrl === null ? {} : { HOMEPORT_DATABASE_URL: databaseUrl }),
    HOMEPORT_EMBEDDED_PHP_MB: '0',
    HOMEPORT_PLATFORM_BACKUP: `s3:http://127.0.0.1:${server.port}/platform/homeport`,
    HOMEPORT_PLATFORM_BACKUP_CREDENTIALS: `${CREDENTIALS.accessKeyId}:${CREDENTIALS.secretAccessKey}`,
  };
  ({ accountId, owner } = await homeport.ownedAccount());
  install = await homeport.install(owner, accountId);
  writeFileSync(join(files(), 'picture.bin'), randomBytes(300_000));
  show('page of its own backup');
  own = text(await callJson(environment, 'backup', 'create', install.name), 'id');
  first = await backUpPlatform('first page');
  second = await backUpPlatform('second page');
});
afterAll(async () => {
  await homeport?.remove();
  await server?.close();
});

const host = (...path: string[]) => join(homeport.config.dataDir, 'host', ...path);
const files = (of = install) => host('installs', of.id, 'files');
const show = (page: string) => writeFileSync(join(files(), 'index.html'), page);

async function backUpPlatform(page: string): Promise<string> {
  show(page);
  return text(await callJson(environment, 'platform', 'backup', 'create'), 'name');
}

const restore = (...words: string[]) => call(environment, 'platform', 'restore', ...words);
const restoreJson = (...words: string[]) => callJson(environment, 'platform', 'restore', ...words, '--yes');
const pageOf = async (of = install) => (await visit(homeport, `http://${of.name}.localhost/`)).body;

async function backupsOf(id = install.id): Promise<unknown> {
  return field((await owner.client.get(`/installs/${id}/backups`)).body, 'results');
}

test('a lost website and its backups: the newest copy is restored, and is a backup of the install', async () => {
  const picture = readFileSync(join(files(), 'picture.bin'));
  rmSync(host('installs', install.id), { recursive: true });
  rmSync(host('snapshots', install.id), { recursive: true, force: true });
  const asked = await restore('--install', install.name);
  expect(asked).toMatchObject({ code: 1, stderr: expect.stringContaining('cannot be backed up before') });
  const restored = await restoreJson('--install', install.name);
  expect(restored).toMatchObject({ install_name: install.name, platform_backup: second });
  expect(await pageOf()).toBe('second page');
  expect(readFileSync(join(files(), 'picture.bin'))).toEqual(picture);
  // Nothing was left to back up. The lost backup is there again.
  expect(await backupsOf()).toMatchObject([
    { id: own, status: 'completed' },
    { id: text(restored, 'backup_id'), status: 'completed', description: expect.stringContaining(second) },
  ]);
  expect(readdirSync(host('scratch'))).toEqual([]);
  await callJson(environment, 'backup', 'restore', own, '--yes');
  expect(await pageOf()).toBe('page of its own backup');
});

test('a website that is there is backed up before; --from chooses an earlier copy', async () => {
  show('newer page');
  const began = `${first.slice(9, 13)}-${first.slice(13, 15)}-${first.slice(15, 17)}`;
  const time = `${first.slice(18, 20)}:${first.slice(20, 22)}:${first.slice(22, 24)}.${first.slice(24, 27)}Z`;
  const restored = await restoreJson('--install', install.id, '--from', `${began}T${time}`);
  expect(restored).toMatchObject({ platform_backup: first });
  expect(await pageOf()).toBe('first page');
  const [, , adopted, checkpoint] = [await backupsOf()].flat();
  expect(adopted).toMatchObject({ id: text(restored, 'backup_id') });
  expect(checkpoint).toMatchObject({ status: 'completed', description: 'Checkpoint before a restore' });
  await callJson(environment, 'backup', 'restore', text(checkpoint, 'id'), '--yes');
  expect(await pageOf()).toBe('newer page');
  const early = await restore('--install', install.name, '--from', '2020-01-01', '--yes');
  expect(early).toMatchObject({ code: 1, stderr: expect.stringContaining('no complete backup') });
  const strange = await restore('--install', install.name, '--from', 'yesterday', '--yes');
  expect(strange).toMatchObject({ code: 1, stderr: expect.stringContaining('--from takes a day') });
});

onlyInLong(test)('a website that is only not served is backed up before, too', async () => {
  show('page that nobody sees');
  const known = [await backupsOf()].flat().length;
  rmSync(host('vhosts', `${install.id}.json`));
  // As many backups as may wait. They would otherwise be refused, and the restore with them.
  const waiting = Array.from({ length: 20 }, () => ({ id: randomUUID(), install_id: install.id }));
  const { database } = homeport.platform;
  await database.write(({ queries }) =>
    queries
      .insertInto('backups')
      .values(waiting.map((row) => ({ ...row, ...WAITING })))
      .execute(),
  );
  await restoreJson(first, '--install', install.name);
  const ids = waiting.map(({ id }) => id);
  await database.write(({ queries }) => queries.deleteFrom('backups').where('id', 'in', ids).execute());
  expect(await pageOf()).toBe('first page');
  const [, checkpoint] = [await backupsOf()].flat().slice(known);
  expect(checkpoint).toMatchObject({ status: 'completed', description: 'Checkpoint before a restore' });
  await callJson(environment, 'backup', 'restore', text(checkpoint, 'id'), '--yes');
  expect(await pageOf()).toBe('page that nobody sees');
});

onlyInLong(test)('a website that its host does not know any more is made again first', async () => {
  rmSync(host('installs', install.id), { recursive: true });
  rmSync(host('vhosts', `${install.id}.json`));
  const restored = await restoreJson('--install', install.name);
  expect(restored).toMatchObject({ install_name: install.name, platform_backup: second });
  expect(await pageOf()).toBe('second page');
});

test('another install gets the website of one that is gone; a deleted one is named', async () => {
  const { name } = await homeport.install(owner, accountId);
  const gone = await homeport.install(owner, accountId);
  writeFileSync(join(files(gone), 'index.html'), 'page of the deleted one');
  await backUpPlatform('first page');
  await owner.client.delete(`/installs/${gone.id}`);
  await homeport.idle();
  const deleted = await restore('--install', gone.name, '--yes');
  expect(deleted).toMatchObject({ code: 1, stderr: expect.stringContaining('restore-deleted') });
  const unknown = await restore('--install', 'nowhere', '--yes');
  expect(unknown).toMatchObject({ code: 1, stderr: expect.stringContaining('--into NAME') });
  const none = await restore('--install', 'nowhere', '--into', name, '--yes');
  expect(none).toMatchObject({ code: 1, stderr: expect.stringContaining('does not have the website') });
  await restoreJson('--install', gone.name, '--into', name);
  expect((await visit(homeport, `http://${name}.localhost/`)).body).toBe('page of the deleted one');
  // The name has another owner now, whose website no platform backup has.
  const { database } = homeport.platform;
  const renamed = await homeport.install(owner, accountId);
  await database.write(({ queries }) =>
    queries.updateTable('installs').set({ name: gone.name }).where('id', '=', renamed.id).execute(),
  );
  const reused = await restore('--install', gone.name, '--into', name, '--yes');
  expect(reused).toMatchObject({ code: 1, stderr: expect.stringContaining('does not have the website') });
});

test('a second restore of an install is refused while the first waits', async () => {
  const { queue, database } = homeport.platform;
  await database.write((transaction) =>
    queue.enqueue(transaction, applyInstall, {
      ...{ payload: { id: install.id }, lane: install.id, delayMs: HOUR_MS },
    }),
  );
  const request = () =>
    homeport.services.platformCopies.request({
      installId: install.id,
      place: { destination: homeport.config.dataDir, credentials: null },
      platformBackup: first,
      website: install,
      checkpoint: false,
      isUnserved: false,
    });
  const { jobId } = await request();
  await expect(request()).rejects.toThrow('is being restored from a platform backup already');
  // Users of the install can cancel it as any restore.
  expect((await owner.client.delete(`/operations/${jobId}`)).status).toBeLessThan(300);
  await database.write((transaction) => queue.cancelLane(transaction, install.id));
});

test('a restore that is cancelled while lost backups return leaves no backup that nobody lists', async () => {
  const { platform, services, config } = homeport;
  const parts = websiteParts(config, platform.clock);
  if (parts === null) throw new Error('the embedded host has websites');
  const cancelled = new AbortController();
  const { signal } = cancelled;
  async function returnBackups(): Promise<string[]> {
    cancelled.abort();
    signal.throwIfAborted();
    return [];
  }
  const kind = adoptionKind(platform, { ...parts, returnBackups }, services.backups.enqueueBackup);
  const before = readdirSync(host('snapshots', install.id));
  const place = { destination: String(environment.HOMEPORT_PLATFORM_BACKUP), credentials: CREDENTIALS };
  const payload = {
    ...{ backup_id: randomUUID(), install_id: install.id, website_id: install.id, platform_backup: first },
    sealed_place: sealPlace(platform.sealer, place),
  };
  const job = { id: randomUUID(), attempt: 1, requestId: null, signal, stopping: signal, log: silent };
  const running = kind.run(payload, { ...job, isHeld: () => true, progress() {} });
  await expect(running).rejects.toThrow('aborted');
  expect(readdirSync(host('snapshots', install.id))).toEqual(before);
});

test('a restore that is cancelled after its process was killed leaves no backup that nobody lists', async () => {
  const { platform, services, config } = homeport;
  const { queue, database } = platform;
  const parts = websiteParts(config, platform.clock);
  if (parts === null) throw new Error('the embedded host has websites');
  const before = readdirSync(host('snapshots', install.id)).sort();
  await database.write((transaction) =>
    queue.enqueue(transaction, applyInstall, {
      ...{ payload: { id: install.id }, lane: install.id, delayMs: HOUR_MS },
    }),
  );
  const place = { destination: String(environment.HOMEPORT_PLATFORM_BACKUP), credentials: CREDENTIALS };
  const { jobId, backupId } = await services.platformCopies.request({
    ...{ installId: install.id, place, platformBackup: first, website: install },
    ...{ checkpoint: false, isUnserved: false },
  });
  // The attempt ends here: its completion, which lists the backup, never runs.
  const kind = adoptionKind(
    platform,
    { ...parts, returnBackups: async () => [] },
    services.backups.enqueueBackup,
  );
  const payload = {
    ...{ backup_id: backupId, install_id: install.id, website_id: install.id, platform_backup: first },
    sealed_place: sealPlace(platform.sealer, place),
  };
  const { signal } = new AbortController();
  const job = { id: jobId, attempt: 1, requestId: null, signal, stopping: signal, log: silent };
  await kind.run(payload, { ...job, isHeld: () => true, progress() {} });
  await database.write(({ queries }) =>
    queries.updateTable('jobs').set({ attempt: 1 }).where('id', '=', jobId).execute(),
  );
  expect(readdirSync(host('snapshots', install.id))).toContain(`${backupId}.backup.jsonl`);
  const discard = () =>
    database.write((transaction) =>
      queue.enqueue(transaction, discardCopyBackups, { payload: {}, lane: 'maintenance' }),
    );
  // Another attempt may still use it.
  await discard();
  await homeport.idle();
  expect(readdirSync(host('snapshots', install.id))).toContain(`${backupId}.backup.jsonl`);
  expect((await owner.client.delete(`/operations/${jobId}`)).status).toBeLessThan(300);
  await database.write((transaction) => queue.cancelLane(transaction, install.id));
  await discard();
  await homeport.idle();
  expect(readdirSync(host('snapshots', install.id)).sort()).toEqual(before);
  // It was deleted once.
  await discard();
  await homeport.idle();
  const deletions = await database.reader
    .selectFrom('jobs')
    .select('id')
    .where('kind', '=', discardBackup.name)
    .where('lane', '=', install.id)
    .execute();
  expect(deletions).toHaveLength(1);
});

test('wrong credentials, a damaged copy and a folder without backups are errors that change nothing', async () => {
  show('untouched');
  const before = await backupsOf();
  const wrong = { ...environment, HOMEPORT_PLATFORM_BACKUP_CREDENTIALS: 'backup:wrong' };
  const refused = await call(wrong, 'platform', 'restore', '--install', install.name, '--yes');
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('SignatureDoesNotMatch') });

  const empty = join(homeport.config.dataDir, 'empty');
  mkdirSync(empty);
  const nothing = await restore(empty, '--install', install.name, '--yes');
  expect(nothing).toMatchObject({ code: 1, stderr: expect.stringContaining('no complete backup') });

  const [pack] = [...server.objects('platform')].filter(([key]) => key.includes(`${install.id}/packs`));
  if (pack === undefined) throw new Error('the bucket has no pack');
  const damaged = Buffer.from(pack[1]);
  damaged[100] = (damaged[100] ?? 0) ^ 1;
  server.put('platform', pack[0], damaged);
  const manifestKey = `homeport/${second}/${MANIFEST_FILE}`;
  const manifest = parseManifest(String(server.objects('platform').get(manifestKey)), second);
  const websites = manifest.websites.map((website) => ({ ...website, changing: true }));
  server.put('platform', manifestKey, manifestText({ ...manifest, websites }));
  const failed = await restore(second, '--install', install.name, '--yes');
  expect(failed).toMatchObject({ code: 1, stderr: expect.stringContaining('does not have its checksum') });
  expect(failed.stderr).toContain(`${install.name} changed while ${second} was made`);
  expect(readFileSync(join(files(), 'index.html'), 'utf8')).toBe('untouched');
  expect(await backupsOf()).toEqual(before);
  expect(readdirSync(host('scratch'))).toEqual([]);
  expect(existsSync(join(homeport.config.dataDir, '.restoring'))).toBe(false);
});

test('options of one install are refused without it, and Linux hosts have their own backups', async () => {
  const lonely = await restore(second, '--into', install.name);
  expect(lonely).toMatchObject({ code: 1, stderr: expect.stringContaining('need --install') });
  expect(await restore()).toMatchObject({ code: 1, stderr: expect.stringContaining('Name the backup') });
  const withKey = await restore(second, '--install', install.name, '--without-sealing-key');
  expect(withKey).toMatchObject({ code: 1, stderr: expect.stringContaining('needs no key') });
  const linux = await call(
    { ...environment, HOMEPORT_HOST: 'linux' },
    ...['platform', 'restore', '--install', install.name],
  );
  expect(linux).toMatchObject({ code: 1, stderr: expect.stringContaining('HOMEPORT_BACKUP_REPOSITORY') });
});
