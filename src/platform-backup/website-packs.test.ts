import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { silent, temporaryFolder } from '../../test/database.ts';
import { startTestHomeport, type TestHomeport } from '../../test/homeport.ts';
import { type ManualClock, manualClock } from '../../test/manual-clock.ts';
import { type S3Server, startS3Server } from '../../test/servers/s3-server.ts';
import { websiteParts } from '../app/embedded-websites.ts';
import { PermanentHostError } from '../hosting/contract/errors.ts';
import { writeArchive } from '../hosting/embedded/snapshots/archive-write.fixture.ts';
import { DATABASE, PLATFORM_COPY_FOLDER, PRIVATE } from '../hosting/embedded/wordpress/site.ts';
import { DAY_MS } from '../lib/durations.ts';
import { loadSealingKey, sealingKeyFingerprint } from '../secrets/sealing-key.ts';
import { readChecked } from './checked-copy.ts';
import { createPlatformBackup } from './create.ts';
import { openStorage } from './destination.ts';
import { type BackedUpFile, MANIFEST_FILE, type Manifest, manifestText } from './manifest.ts';
import { prunePlatformBackups } from './prune.ts';
import type { BackupStorage } from './storage.ts';
import { verifyPlatformBackup } from './verify.ts';
import { websiteStoreOf, worthReusing } from './website-packs.ts';

let homeport: TestHomeport;
let clock: ManualClock;
let folder: ReturnType<typeof temporaryFolder>;
let server: S3Server;
let install: { id: string; name: string };
/** Whether the bucket refuses to give packs back, as one that has moved them to cold storage does. */
let isCold = false;

beforeAll(async () => {
  folder = temporaryFolder();
  clock = manualClock(new Date('2026-05-01T12:00:00.000Z'));
  server = await startS3Server({
    buckets: ['platform'],
    refuse: (method, key) => isCold && method === 'GET' && key.endsWith('.pack'),
  });
  homeport = await startTestHomeport({ clock });
  const { accountId, owner } = await homeport.ownedAccount();
  install = await homeport.install(owner, accountId);
});
afterAll(async () => {
  await homeport?.remove();
  await server?.close();
  folder.remove();
});

function parts() {
  const websites = websiteParts(homeport.config, clock);
  if (websites === null) throw new Error('the embedded host has websites');
  return websites;
}

const site = () => join(homeport.config.dataDir, 'host/installs', install.id, 'files');

async function backUp(storage: BackupStorage, websites = parts()): Promise<Manifest> {
  clock.advance(1_000);
  return createPlatformBackup(homeport.platform, {
    storage,
    websites,
    version: '0.0.0',
    withSealingKey: false,
  });
}

/** Packs of the website that a backup has, and those that the other does not have. */
function packsOf({ files }: Manifest, except?: Manifest): BackedUpFile[] {
  const others = new Set(except?.files.map(({ path }) => path));
  const { packs } = websiteStoreOf(install.id);
  return files.filter(({ path }) => path.startsWith(packs) && !others.has(path));
}

const sizeOf = (files: BackedUpFile[]): number => files.reduce((sum, { bytes }) => sum + bytes, 0);

/** Contents of the website's files in a backup. */
async function contentsIn(storage: BackupStorage, manifest: Manifest): Promise<Record<string, string>> {
  const to = join(folder.path, randomUUID());
  const store = websiteStoreOf(install.id);
  for (const file of manifest.files.filter(({ path }) => path.startsWith('websites/'))) {
    mkdirSync(dirname(join(to, file.path)), { recursive: true });
    await readChecked(storage, manifest.name, file, { to: join(to, file.path) });
  }
  const from = { manifest: join(to, store.manifest), packs: join(to, store.packs) };
  await parts().extract(install.id, manifest.id, from, join(to, 'host'));
  return contentsBelow(join(to, 'host/installs', install.id, 'files'));
}

function contentsBelow(path: string): Record<string, string> {
  const files = readdirSync(path, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
  return Object.fromEntries(
    files.map((one) => {
      const file = join(one.parentPath, one.name);
      return [file.slice(path.length), readFileSync(file, 'base64')];
    }),
  );
}

test.each(['folder', 'bucket'])(
  'in a %s, a backup of a website stores only what has changed',
  async (kind) => {
    const place = join(folder.path, kind);
    const address = kind === 'folder' ? place : `s3:http://127.0.0.1:${server.port}/platform/p`;
    const storage = openStorage(address, { credentials: null, staging: place, log: silent });
    const put = (name: string, bytes: number) => writeFileSync(join(site(), name), randomBytes(bytes));
    try {
      put('large.bin', 3_000_000);
      const first = await backUp(storage);
      put('small.bin', 10_000);
      const before = contentsBelow(site());
      const second = await backUp(storage);
      expect(packsOf(second)).toEqual(
        expect.arrayContaining(packsOf(first).map(({ path }) => expect.objectContaining({ path }))),
      );
      expect(sizeOf(packsOf(second, first))).toBeLessThan(30_000);
      // The database and the manifests are new each time.
      expect(second.stored_bytes).toBeLessThan(first.stored_bytes ?? 0);
      rmSync(join(site(), 'large.bin'));
      const third = await backUp(storage);
      const fourth = await backUp(storage);
      expect(sizeOf(packsOf(third))).toBeGreaterThan(3_000_000);
      expect(sizeOf(packsOf(fourth))).toBeLessThan(100_000);
      const options = { platform: sealingKeyFingerprint(loadSealingKey(homeport.config)), log: silent };
      await prunePlatformBackups(storage, { ...options, keep: 3, now: clock.now() });
      for (const { name } of [second, third, fourth]) await verifyPlatformBackup(storage, name);
      expect(await contentsIn(storage, second)).toEqual(before);
      expect(await contentsIn(storage, fourth)).toEqual(contentsBelow(site()));
    } finally {
      storage.close();
    }
  },
);

test('a backup that finds a pack of the former one gone stores its contents again', async () => {
  const place = join(folder.path, 'gone');
  const storage = openStorage(place, { credentials: null, staging: place, log: silent });
  writeFileSync(join(site(), 'kept.bin'), randomBytes(100_000));
  const first = await backUp(storage);
  for (const { path } of packsOf(first)) rmSync(join(place, first.name, path));
  const second = await backUp(storage);
  expect(await contentsIn(storage, second)).toEqual(contentsBelow(site()));
});

test('a website that has not changed needs no new pack, however long ago its files were written', async () => {
  const place = join(folder.path, 'unchanged');
  const storage = openStorage(place, { credentials: null, staging: place, log: silent });
  writeFileSync(join(site(), 'new.bin'), randomBytes(1_000));
  const first = await backUp(storage);
  const later = websiteParts(homeport.config, manualClock(new Date(Date.now() + DAY_MS)));
  const second = await backUp(storage, later ?? parts());
  expect(packsOf(second)).toEqual(packsOf(first));
});

const bucketAt = (prefix: string) =>
  openStorage(`s3:http://127.0.0.1:${server.port}/platform/${prefix}`, {
    credentials: null,
    staging: join(folder.path, 'staging'),
    log: silent,
  });

const requestsOf = (method: string) =>
  server.requests.filter((request) => request.method === method && /\.pack/.test(request.path));

test('packs that a bucket does not give back are stored again, and can be reused once it does', async () => {
  const storage = bucketAt('cold');
  try {
    await backUp(storage);
    isCold = true;
    const second = await backUp(storage).finally(() => {
      isCold = false;
    });
    await verifyPlatformBackup(storage, second.name);
    expect(await contentsIn(storage, second)).toEqual(contentsBelow(site()));
    const uploads = requestsOf('PUT').length;
    expect(packsOf(await backUp(storage))).toEqual(packsOf(second));
    expect(requestsOf('PUT')).toHaveLength(uploads);
    expect(packsOf(second).map(({ pack }) => pack)).not.toContain(undefined);
  } finally {
    storage.close();
  }
});

test('packs with strange names or lists in a bucket are not used, and stop no backup', async () => {
  const storage = bucketAt('strange');
  try {
    const first = await backUp(storage);
    const strange = ['below/it.pack', `${'0'.repeat(64)}.pack`].map((name) => ({
      path: `${websiteStoreOf(install.id).packs}/${name}`,
      bytes: 100,
      sha256: '0'.repeat(64),
      stored_in: first.name,
      pack: { list_bytes: Number.MAX_SAFE_INTEGER, used_bytes: 100 },
    }));
    for (const { path } of strange)
      server.put('platform', `strange/files/${first.name}/${path}`, 'x'.repeat(100));
    const text = manifestText({ ...first, files: [...first.files, ...strange] });
    server.put('platform', `strange/${first.name}/${MANIFEST_FILE}`, text);
    const second = await backUp(storage);
    expect(packsOf(second)).toEqual(packsOf(first));
    for (const { path } of strange) {
      expect(requestsOf('GET').filter((request) => request.path.includes(path))).toEqual([]);
    }
  } finally {
    storage.close();
  }
});

test('a website whose copy of the database is removed meanwhile is not taken for stored', async () => {
  const database = join(homeport.config.dataDir, 'host/installs', install.id, 'database');
  for (const made of [database, join(site(), PRIVATE)]) mkdirSync(made, { recursive: true });
  writeFileSync(join(database, DATABASE), 'rows');
  const to = join(folder.path, 'without-database');
  mkdirSync(to);
  const storing = parts().store(install, randomUUID(), {
    manifest: join(to, 'manifest'),
    packs: join(to, 'packs'),
  });
  const failure = storing.catch((error: unknown) => error);
  // A second platform backup removes it before it makes its own.
  const copy = join(site(), PRIVATE, PLATFORM_COPY_FOLDER);
  await expect.poll(() => existsSync(join(copy, DATABASE)), { interval: 1 }).toBe(true);
  rmSync(copy, { recursive: true });
  expect(await failure).toMatchObject({ message: expect.stringContaining('another platform backup') });
  rmSync(database, { recursive: true });
});

test('two backups of one data folder are made one after the other, so that both are whole', async () => {
  const place = join(folder.path, 'two');
  const storage = openStorage(place, { credentials: null, staging: place, log: silent });
  const [made, refused] = await Promise.allSettled([backUp(storage), backUp(storage)]);
  expect(made.status).toBe('fulfilled');
  expect(refused).toMatchObject({
    ...{ status: 'rejected', reason: { message: expect.stringContaining('is being made from') } },
  });
  expect(await storage.list()).toHaveLength(1);
  await backUp(storage);
  expect(await storage.list()).toHaveLength(2);
});

test('a website in an archive of an earlier version can be restored', async () => {
  const to = join(folder.path, 'archived');
  mkdirSync(to);
  const archive = { archive: join(to, 'archive'), manifest: join(to, 'manifest') };
  const backup_id = randomUUID();
  const header = { install_id: install.id, install_name: install.name, backup_id, created_at: '' };
  await writeArchive(site(), archive, { format: 'homeport-snapshot', version: 1, ...header }, clock);
  await parts().extract(install.id, backup_id, archive, join(to, 'host'));
  expect(contentsBelow(join(to, 'host/installs', install.id, 'files'))).toEqual(contentsBelow(site()));
});

test('a copy becomes a backup of the install, and what a killed attempt left is removed', async () => {
  const to = join(folder.path, 'adopted');
  mkdirSync(to);
  const store = { manifest: join(to, 'manifest'), packs: join(to, 'packs') };
  const [platformBackupId, backupId] = [randomUUID(), randomUUID()];
  await parts().store(install, platformBackupId, store);
  const scratch = join(homeport.config.dataDir, 'host/scratch');
  mkdirSync(join(scratch, `1-adopted-${backupId}`, 'fetched'), { recursive: true });
  const copy = { websiteId: install.id, platformBackupId, isWordPress: false, fetch: async () => store };
  const { signal } = new AbortController();
  const made = await parts().adopt(install, backupId, copy, signal);
  expect(made.files).toBe(Object.keys(contentsBelow(site())).length);
  const wrongKind = parts().adopt(install, randomUUID(), { ...copy, isWordPress: true }, signal);
  await expect(wrongKind).rejects.toThrow('has no database');
  expect(readdirSync(scratch)).toEqual([]);
  const held = readdirSync(join(homeport.config.dataDir, 'host/snapshots', install.id));
  expect(held.sort()).toEqual([`${backupId}.backup.jsonl`, 'packs']);
  writeFileSync(store.manifest, 'no manifest\n');
  const unreadable = parts().adopt(install, randomUUID(), copy, signal);
  await expect(unreadable).rejects.toThrow('cannot be read: its manifest has a line that is not JSON');
  await expect(unreadable).rejects.toBeInstanceOf(PermanentHostError);
});

test('packs that are used little, and many small ones, are not reused', () => {
  const pack = (bytes: number, used_bytes: number): BackedUpFile => ({
    path: `websites/x/packs/${bytes}.pack`,
    bytes,
    sha256: '0'.repeat(64),
    pack: { list_bytes: 84, used_bytes },
  });
  const large = [pack(10_000_000, 5_000_001), pack(10_000_000, 4_000_000)];
  const small = Array.from({ length: 15 }, () => pack(1_000, 900));
  expect(worthReusing([...large, ...small])).toEqual([large[0], ...small]);
  expect(worthReusing([...large, ...small, pack(2_000, 2_000)])).toEqual([large[0]]);
});
