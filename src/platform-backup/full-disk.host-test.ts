import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { call, callJson } from '../../test/cli/call-homeport.ts';
import { type Environment, environmentFor, run } from '../../test/cli/run-homeport.ts';
import { text } from '../../test/client.ts';
import type { DatabasePlace } from '../../test/database.ts';
import { visit } from '../../test/edge.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../test/homeport.ts';
import { manualClock } from '../../test/manual-clock.ts';
import { onlyInLong, rounds } from '../../test/rounds.ts';
import { findPostgres, startPostgres } from '../../test/servers/postgres-server.ts';
import { startS3Server } from '../../test/servers/s3-server.ts';
import { mountSmallDisk, type SmallDisk } from '../../test/servers/small-disk.ts';
import { createScheduler } from '../jobs/schedule.ts';
import { DAY_MS } from '../lib/durations.ts';
import { createPlatformBackup } from './create.ts';
import { dailyPlatformBackup } from './daily.ts';
import { createFolderStorage } from './folder-storage.ts';

const PAGE = '<!doctype html><p>Kept</p>';
const NO_CONTENT = ['websites.lock'];

/** The disk of the data folder, and that of the backups. */
let source: SmallDisk;
let target: SmallDisk;
let homeport: TestHomeport;
let environment: Environment;
let owner: Person;
let accountId: string;
let install: { id: string; name: string };
let website: string;
/** Folder for backups on the other disk. */
let folder: string;

const placeOn = (disk: SmallDisk): DatabasePlace => ({
  settings: { databaseUrl: null, dataDir: join(disk.path, 'data') },
  remove: async () => {},
});

beforeAll(async () => {
  source = await mountSmallDisk();
  target = await mountSmallDisk();
  folder = join(target.path, 'backups');
  const place = placeOn(source);
  homeport = await startTestHomeport({ place });
  environment = await environmentFor(place, { HOMEPORT_LOG_LEVEL: 'warn' });
  ({ accountId, owner } = await homeport.ownedAccount());
  install = await homeport.install(owner, accountId);
  website = `http://${install.name}.localhost/`;
  const files = join(place.settings.dataDir, 'host/installs', install.id, 'files');
  writeFileSync(join(files, 'index.html'), PAGE);
  writeFileSync(join(files, 'photo.jpg'), randomBytes(3 * 1024 * 1024));
  writeFileSync(join(files, 'log.txt'), 'One more line.\n'.repeat(200_000));
});
beforeEach(async () => {
  for (const disk of [source, target]) await disk.makeRoom();
});
afterAll(async () => {
  await homeport?.remove();
  for (const disk of [source, target]) await disk?.remove();
});

const create = (to: string) => call(environment, 'platform', 'backup', 'create', to);

async function createdIn(to: string): Promise<string> {
  return join(to, text(await callJson(environment, 'platform', 'backup', 'create', to), 'name'));
}

/** Verifying includes a check of the database's integrity. */
async function expectWhole(location: string): Promise<void> {
  const { code, stderr } = await call(environment, 'platform', 'backup', 'verify', location);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
}

const newSite = () => owner.client.post('/sites', { name: 'A site', account_id: accountId });

async function expectService(): Promise<void> {
  await expect.poll(async () => (await newSite()).status).toBe(201);
  expect(await visit(homeport, website)).toMatchObject({ status: 200, body: PAGE });
}

test('a target that becomes full at any point holds nothing afterwards, and takes a backup once it has room', async () => {
  const before = target.used();
  const probe = await createdIn(folder);
  const needed = target.used() - before;
  rmSync(probe, { recursive: true });
  for (const share of rounds([0.9], [0, 0.1, 0.5, 0.9, 0.99])) {
    await target.leave(needed * share);
    const { code, stderr } = await create(folder);
    expect({ code, stderr }, `${share}`).toEqual({ code: 1, stderr: expect.stringContaining('Make room') });
    expect(stderr).not.toMatch(/^ +at /m);
    expect(readdirSync(folder)).toEqual([]);
    expect(await callJson(environment, 'platform', 'backup', 'list', folder)).toEqual([]);
  }
  await target.makeRoom();
  await expectWhole(await createdIn(folder));
  await expectService();
});

test('on the disk of the service, a backup without room ends, and the service loses nothing', async () => {
  const here = join(source.path, 'backups');
  const before = source.used();
  const probe = await createdIn(here);
  const needed = source.used() - before;
  rmSync(probe, { recursive: true });
  await source.leave(needed / 2);
  const acknowledged: string[] = [];
  let hasEnded = false;
  const creating = create(here).finally(() => {
    hasEnded = true;
  });
  while (!hasEnded) {
    const { status, body } = await newSite();
    expect([201, 503]).toContain(status);
    if (status === 201) acknowledged.push(text(body, 'id'));
    expect((await owner.client.get('/user')).status).toBe(200);
  }
  expect(await creating).toMatchObject({ code: 1, stderr: expect.stringContaining('Make room') });
  expect(readdirSync(here)).toEqual([]);
  expect(acknowledged.length).toBeGreaterThan(0);
  for (const id of acknowledged) expect((await owner.client.get(`/sites/${id}`)).status).toBe(200);
  await expectService();
  await source.makeRoom();
  const location = await createdIn(here);
  await expectWhole(location);
  rmSync(location, { recursive: true });
});

onlyInLong(test)('a full data folder is backed up, too', async () => {
  await source.leave(0);
  // The database has some room of its own.
  await expect.poll(async () => (await newSite()).status).toBe(503);
  await expectWhole(await createdIn(folder));
  await source.makeRoom();
  await expectService();
});

onlyInLong(test)(
  'on the way to a bucket, a full data folder ends the backup, and nothing of it stays',
  async () => {
    const credentials = { accessKeyId: 'backup', secretAccessKey: randomBytes(12).toString('hex') };
    const server = await startS3Server({ credentials, buckets: ['platform'] });
    const settings = {
      ...environment,
      HOMEPORT_PLATFORM_BACKUP: `s3:http://127.0.0.1:${server.port}/platform`,
      HOMEPORT_PLATFORM_BACKUP_CREDENTIALS: `${credentials.accessKeyId}:${credentials.secretAccessKey}`,
    };
    try {
      // The database fits, and the website does not.
      await source.leave(2 * 1024 * 1024);
      const { code, stderr } = await call(settings, 'platform', 'backup', 'create');
      expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('or in the data folder') });
      expect(server.requests.some(({ method }) => method === 'PUT')).toBe(true);
      expect([...server.objects('platform').keys()]).toEqual([]);
      const staged = readdirSync(homeport.config.dataDir).filter((name) => name.startsWith('.homeport-'));
      expect(staged).toEqual([]);
      await source.makeRoom();
      const made = await callJson(settings, 'platform', 'backup', 'create');
      expect(await callJson(settings, 'platform', 'backup', 'list')).toMatchObject([
        { name: text(made, 'name') },
      ]);
    } finally {
      await server.close();
    }
  },
);

onlyInLong(test)('a dump of PostgreSQL on a full disk says that there is no room', async () => {
  const binaries = findPostgres();
  if (binaries === undefined) throw new Error('PostgreSQL is missing');
  const postgres = await startPostgres(binaries);
  const { dataDir } = homeport.config;
  try {
    const settings = {
      ...environment,
      HOMEPORT_DATABASE_URL: postgres.url,
      HOMEPORT_DATA_DIR: `${dataDir}-pg`,
    };
    await callJson(settings, 'migrate');
    await target.leave(16 * 1024);
    const { code, stderr } = await call(settings, 'platform', 'backup', 'create', folder);
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('Make room') });
    expect(readdirSync(folder).filter((name) => name.startsWith('.'))).toEqual([]);
  } finally {
    await postgres.stop();
  }
});

test('a restore without room leaves the folder empty, and succeeds once it has some', async () => {
  const location = await createdIn(folder);
  const small = await mountSmallDisk();
  try {
    const place = placeOn(small);
    const elsewhere = { ...environment, HOMEPORT_DATA_DIR: place.settings.dataDir };
    const key = join(homeport.config.dataDir, 'sealing.key');
    const restore = () => call(elsewhere, 'platform', 'restore', location, '--sealing-key', key);
    const content = () => readdirSync(place.settings.dataDir).filter((name) => !NO_CONTENT.includes(name));
    expect(await restore()).toMatchObject({ code: 0, stderr: '' });
    const needed = small.used();
    rmSync(place.settings.dataDir, { recursive: true });
    for (const share of [0, 0.1, 0.5, 0.9]) {
      await small.leave(needed * share);
      const { code, stderr } = await restore();
      expect({ code, stderr }, `${share}`).toEqual({ code: 1, stderr: expect.stringContaining('Make room') });
      expect(stderr).not.toMatch(/^ +at /m);
      expect(content()).toEqual([]);
    }
    await small.makeRoom();
    expect(await restore()).toMatchObject({ code: 0, stderr: '' });
    const again = await callJson(elsewhere, 'platform', 'backup', 'create', join(target.path, 'again'));
    await expectWhole(join(target.path, 'again', text(again, 'name')));
  } finally {
    await small.remove();
  }
});

test('one install without room for its copy stays as it is, and is restored once there is some', async () => {
  await createdIn(folder);
  const files = join(homeport.config.dataDir, 'host/installs', install.id, 'files');
  writeFileSync(join(files, 'index.html'), 'changed');
  const restore = () => call(environment, 'platform', 'restore', folder, '--install', install.name, '--yes');
  // The packs fit, and the website does not.
  for (const room of [0, 4 * 1024 * 1024]) {
    await source.leave(room);
    const { code, stderr } = await restore();
    expect(code).toBe(1);
    expect(stderr).toMatch(/disk|room/);
    expect(stderr).not.toMatch(/^ +at /m);
    expect(readFileSync(join(files, 'index.html'), 'utf8')).toBe('changed');
    const scratch = join(homeport.config.dataDir, 'host/scratch');
    expect(existsSync(scratch) ? readdirSync(scratch) : []).toEqual([]);
  }
  await source.makeRoom();
  expect(await restore()).toMatchObject({ code: 0 });
  expect(readFileSync(join(files, 'index.html'), 'utf8')).toBe(PAGE);
  expect(await callJson(environment, 'backup', 'list', '--install', install.name)).toHaveLength(2);
});

onlyInLong(test)('a restore that just fits says that only the next write has no room', async () => {
  const { name, bytes } = await createPlatformBackup(homeport.platform, {
    storage: createFolderStorage(folder),
    websites: null,
    version: '0.0.0',
    withSealingKey: true,
  });
  const small = await mountSmallDisk();
  try {
    const { dataDir } = placeOn(small).settings;
    const elsewhere = { ...environment, HOMEPORT_DATA_DIR: dataDir };
    let said = 'Nothing is restored';
    // The database needs 32 KiB beside it for the first write.
    for (let room = bytes; said.includes('Nothing is restored'); room += 8 * 1024) {
      await small.leave(room);
      const { code, stderr } = await call(elsewhere, 'platform', 'restore', join(folder, name));
      expect(code).toBe(1);
      said = stderr;
    }
    expect(said).toContain('is restored completely');
    expect(said).toContain('Make room');
    await small.makeRoom();
    expect(await callJson(elsewhere, 'account', 'list')).toMatchObject([{ id: accountId }]);
  } finally {
    await small.remove();
  }
});

onlyInLong(test)('verifying without room for the database says so, and finds no damage', async () => {
  const location = await createdIn(folder);
  await source.leave(0);
  const words = ['platform', 'backup', 'verify', location];
  const { code, stderr } = await run({ ...environment, TMPDIR: source.path }, ...words);
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('TMPDIR') });
  expect(stderr).not.toMatch(/damaged|^ +at /m);
  expect(readdirSync(source.path).filter((name) => name.startsWith('homeport-verify'))).toEqual([]);
});

test('the daily backup fails while there is no room, and is made the next day', async () => {
  const clock = manualClock(new Date('2026-05-01T12:00:00.000Z'));
  const place = join(target.path, 'daily');
  const settings = { HOMEPORT_PLATFORM_BACKUP: place, HOMEPORT_PLATFORM_BACKUP_AT: '03:15' };
  const daily = await startTestHomeport({ clock, environment: settings });
  const { platform } = daily;
  const scheduler = createScheduler({
    ...platform,
    schedules: dailyPlatformBackup(platform, null, '0.0.0').schedules,
  });
  const nextDay = async () => {
    clock.advance(DAY_MS);
    await scheduler.tick();
    for (let attempt = 1; attempt <= 3; attempt++) {
      await daily.idle();
      clock.advance(60_000);
    }
    await daily.idle();
  };
  const states = async () => {
    const jobs = platform.database.reader.selectFrom('jobs').where('kind', '=', 'back_up_platform');
    return (await jobs.select(['state', 'attempt']).orderBy('created_at').execute()).map(
      ({ state, attempt }) => `${state} after ${attempt}`,
    );
  };
  try {
    await scheduler.tick();
    // A process killed three days ago has left its work.
    const remains = join(place, '.homeport-20260429T031500Z-00000000.partial');
    mkdirSync(remains, { recursive: true });
    await target.leave(0);
    await nextDay();
    expect(await states()).toEqual(['failed after 1']);
    expect(readdirSync(place)).toEqual([]);

    await target.leave(4 * 1024 * 1024);
    mkdirSync(remains);
    writeFileSync(join(remains, 'database.sqlite'), Buffer.alloc(4 * 1024 * 1024));
    await nextDay();
    expect(await states()).toEqual(['failed after 1', 'succeeded after 1']);
    expect(existsSync(remains)).toBe(false);
    expect(readdirSync(place)).toHaveLength(1);
  } finally {
    await daily.remove();
  }
});
