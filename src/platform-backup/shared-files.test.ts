import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { silent } from '../../test/database.ts';
import { type S3Server, startS3Server } from '../../test/servers/s3-server.ts';
import { DAY_MS } from '../lib/durations.ts';
import { measure, readChecked } from './checked-copy.ts';
import { openStorage } from './destination.ts';
import { newestManifest } from './former-backup.ts';
import { type BackedUpFile, type Manifest, manifestText } from './manifest.ts';
import { prunePlatformBackups } from './prune.ts';
import { type BackupDraft, type BackupStorage, backupName } from './storage.ts';

const PLATFORM = 'a'.repeat(64);
const PATH = 'host/vhosts/one.json';

let base: string;
let server: S3Server;
let bucket: BackupStorage;
let folder: BackupStorage;
let now: Date;
beforeEach(async () => {
  base = mkdtempSync(join(tmpdir(), 'shared-'));
  server = await startS3Server({ buckets: ['platform'] });
  const options = { credentials: null, staging: join(base, 'staging'), log: silent };
  bucket = openStorage(`s3:http://127.0.0.1:${server.port}/platform/p`, options);
  folder = openStorage(join(base, 'folder'), options);
  now = new Date('2026-11-20T02:30:00.000Z');
});
afterEach(async () => {
  bucket.close();
  await server.close();
  rmSync(base, { recursive: true });
});

/** A backup in progress that has stored its database. */
async function begin(storage: BackupStorage) {
  const name = backupName(now, Buffer.from(randomUUID()));
  const draft = await storage.begin(name);
  writeFileSync(await draft.place('database.sqlite'), name);
  await draft.keep('database.sqlite', name.length, { isShared: false });
  const former = await newestManifest(storage, PLATFORM);
  const known = former?.files.find(({ path }) => path === PATH);
  return {
    name,
    draft,
    /** Reuses the shared file of the former backup, or stores one. Returns whether it was reused. */
    async complete(): Promise<boolean> {
      const reused = former && known ? await draft.reuse(former.name, known) : null;
      const file = reused && known ? { ...known, ...reused } : await store(draft, name);
      await draft.finish(manifestText(manifestOf(name, [file])));
      return reused !== null;
    },
  };
}

async function store(draft: BackupDraft, content: string): Promise<BackedUpFile> {
  const file = await draft.place(PATH);
  writeFileSync(file, content);
  const measured = await measure(file);
  return { ...(await draft.keep(PATH, measured.bytes, { isShared: true })), ...measured };
}

function manifestOf(name: string, files: BackedUpFile[]): Manifest {
  return {
    format: 'homeport-platform-backup',
    version: 2,
    id: randomUUID(),
    name,
    homeport_version: '1.2.3',
    public_url: 'https://localhost:8443',
    platform: PLATFORM,
    created_at: now.toISOString(),
    database_at: now.toISOString(),
    finished_at: now.toISOString(),
    host: 'embedded',
    database: { dialect: 'sqlite', migrations: [] },
    sealing_key: false,
    not_included: [],
    websites: [],
    files,
    bytes: 0,
  };
}

async function backUp(storage: BackupStorage): Promise<{ name: string; isReused: boolean }> {
  now = new Date(now.getTime() + 1000);
  const { name, complete } = await begin(storage);
  return { name, isReused: await complete() };
}

async function contentIn(storage: BackupStorage, name: string): Promise<string | null> {
  const manifest = await newestManifest(storage, PLATFORM);
  expect(manifest?.name).toBe(name);
  const [file] = manifest?.files ?? [];
  const content = file === undefined ? null : await storage.read(name, file);
  return content === null ? null : text(content);
}

const prune = (storage: BackupStorage) =>
  prunePlatformBackups(storage, { platform: PLATFORM, keep: 1, now, log: silent });
const shared = () => [...server.objects('platform').keys()].filter((key) => key.startsWith('p/files/'));

test.each(['bucket', 'folder'])('in a %s, a shared file outlives the backup that stored it', async (kind) => {
  const storage = kind === 'bucket' ? bucket : folder;
  const first = await backUp(storage);
  const second = await backUp(storage);
  const third = await backUp(storage);
  expect([first, second, third].map(({ isReused }) => isReused)).toEqual([false, true, true]);
  expect(await prune(storage)).toEqual([first.name, second.name]);
  expect(await contentIn(storage, third.name)).toBe(first.name);
});

test('a shared file is deleted with the last backup that uses it', async () => {
  const first = await backUp(bucket);
  await backUp(bucket);
  await prune(bucket);
  expect(shared()).toEqual([`p/files/${first.name}/${PATH}`]);
  now = new Date(now.getTime() + 1000);
  const { name, draft } = await begin(bucket);
  await draft.finish(manifestText(manifestOf(name, [await store(draft, 'another')])));
  await prune(bucket);
  expect(shared()).toEqual([`p/files/${name}/${PATH}`]);
});

test('pruning deletes no file that an unfinished backup may reuse, until the backup is abandoned', async () => {
  await backUp(bucket);
  const slow = await begin(bucket);
  now = new Date(now.getTime() + 1000);
  const { name, draft } = await begin(bucket);
  await draft.finish(manifestText(manifestOf(name, [await store(draft, 'another')])));
  expect(await prune(bucket)).toHaveLength(1);
  expect(shared()).toHaveLength(2);
  expect(await slow.complete()).toBe(true);
  await bucket.remove(name);
  expect(await contentIn(bucket, slow.name)).not.toBeNull();

  now = new Date(now.getTime() + 1000);
  const killed = await begin(bucket);
  await store(killed.draft, 'of a killed backup');
  const last = await backUp(bucket);
  await prune(bucket);
  expect(shared()).toHaveLength(3);
  now = new Date(now.getTime() + 3 * DAY_MS);
  expect(await prune(bucket)).toEqual([killed.name]);
  expect(shared()).toHaveLength(1);
  expect(await contentIn(bucket, last.name)).not.toBeNull();
});

test('pruning deletes no file that a backup chose before another prune removed its owner', async () => {
  const first = await backUp(bucket);
  let late: Awaited<ReturnType<typeof begin>> | undefined;
  await bucket.removeUnused({
    before: new Date(now.getTime() - DAY_MS),
    async used() {
      now = new Date(now.getTime() + 1000);
      late = await begin(bucket);
      now = new Date(now.getTime() + 1000);
      const { name, draft } = await begin(bucket);
      const file = await store(draft, 'another');
      await draft.finish(manifestText(manifestOf(name, [file])));
      await bucket.remove(first.name);
      return { backups: [name], files: [file] };
    },
  });
  expect(shared()).toContain(`p/files/${first.name}/${PATH}`);
  expect(await late?.complete()).toBe(true);
});

test('pruning deletes no file of others', async () => {
  await backUp(bucket);
  const ofOtherPlatform = 'homeport-20261101T000000Z-00000000/database.sqlite';
  const others = ['photo.jpg', '2026/host/photo.jpg', ofOtherPlatform].map((path) => `p/files/${path}`);
  for (const key of others) server.put('platform', key, 'of others');
  await prune(bucket);
  expect(shared()).toEqual(expect.arrayContaining(others));
});

test('pruning deletes no shared file while a manifest cannot be read', async () => {
  const first = await backUp(bucket);
  const { name, draft } = await begin(bucket);
  await draft.finish(manifestText(manifestOf(name, [await store(draft, 'another')])));
  await bucket.remove(first.name);
  server.put('platform', 'p/homeport-20261101T000000Z-00000000/manifest.json', '{}');
  await prune(bucket);
  expect(shared()).toHaveLength(2);
  await bucket.remove('homeport-20261101T000000Z-00000000');
  await prune(bucket);
  expect(shared()).toHaveLength(1);
});

test('a copy of a bucket in a folder can be read, and says which shared file it lacks', async () => {
  const first = await backUp(bucket);
  const { name } = await backUp(bucket);
  for (const [key, body] of server.objects('platform')) {
    const file = join(base, 'copy', key);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, body);
  }
  const copy = openStorage(join(base, 'copy/p'), { credentials: null, staging: base, log: silent });
  expect(await contentIn(copy, name)).toBe(first.name);
  rmSync(join(base, 'copy/p/files'), { recursive: true });
  const [file] = (await newestManifest(copy, PLATFORM))?.files ?? [];
  if (file === undefined) throw new Error('the backup has no file');
  await expect(readChecked(copy, name, file)).rejects.toThrow(`files/${first.name}/${PATH} is missing`);
});

test('a file that is gone or has another size is stored again', async () => {
  const { name } = await backUp(bucket);
  server.put('platform', `p/files/${name}/${PATH}`, 'shorter');
  expect(await backUp(bucket)).toMatchObject({ isReused: false });
  const inFolder = await backUp(folder);
  truncateSync(join(base, 'folder', inFolder.name, PATH), 3);
  expect(await backUp(folder)).toMatchObject({ isReused: false });
  rmSync(join(base, 'folder', (await backUp(folder)).name, PATH));
  expect(await backUp(folder)).toMatchObject({ isReused: false });
});
