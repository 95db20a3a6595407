import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { temporaryFolder } from '../../test/database.ts';
import { startTestHomeport, type TestHomeport } from '../../test/homeport.ts';
import { type ManualClock, manualClock } from '../../test/manual-clock.ts';
import { runningJob } from '../../test/running-job.ts';
import { websiteParts } from '../app/embedded-websites.ts';
import { checkPlatformBackup } from '../cli/doctor/platform-backup.ts';
import { createScheduler } from '../jobs/schedule.ts';
import { DAY_MS, HOUR_MS } from '../lib/durations.ts';
import { OperatorError } from '../lib/operator-error.ts';
import { readFigures } from '../metrics/figures.ts';
import { settleChangedSettings } from '../platform/changed-settings.ts';
import { createPlatformBackup } from './create.ts';
import { dailyPlatformBackup } from './daily.ts';
import { createFolderStorage } from './folder-storage.ts';
import { finishRun, insertRun } from './runs-store.ts';

let homeport: TestHomeport;
let clock: ManualClock;
let folder: ReturnType<typeof temporaryFolder>;
let destination: string;

beforeAll(async () => {
  folder = temporaryFolder();
  destination = join(folder.path, 'backups');
  clock = manualClock(new Date('2026-05-01T12:00:00.000Z'));
  homeport = await startTestHomeport({
    clock,
    environment: {
      HOMEPORT_PLATFORM_BACKUP: destination,
      HOMEPORT_PLATFORM_BACKUP_AT: '03:15',
      HOMEPORT_PLATFORM_BACKUP_KEEP: '2',
    },
  });
});
afterAll(async () => {
  await homeport.remove();
  folder.remove();
});
afterEach(() => homeport.idle());

const finding = () => checkPlatformBackup(homeport.platform.database, homeport.config, clock);

test('one backup a day, by one of several processes; the newest are kept, and doctor and metrics know', async () => {
  const { platform } = homeport;
  expect(await finding()).toMatchObject({ state: 'warning', message: 'There is no backup yet.' });
  const { schedules } = dailyPlatformBackup(platform, null, '0.0.0');
  const schedulers = [1, 2].map(() => createScheduler({ ...platform, schedules }));
  for (const scheduler of schedulers) await scheduler.tick();
  for (let day = 1; day <= 3; day++) {
    clock.advance(DAY_MS);
    for (const scheduler of schedulers) await scheduler.tick();
    await homeport.idle();
    expect(readdirSync(destination).length).toBe(Math.min(day, 2));
  }
  expect(await finding()).toMatchObject({ state: 'ok' });
  const { platformBackup } = await readFigures(platform.database, clock);
  expect(platformBackup).toMatchObject({ last: { at: clock.now() }, failures: 0 });
  expect(platformBackup.last?.bytes).toBeGreaterThan(0);
  clock.advance(27 * HOUR_MS);
  expect(await finding()).toMatchObject({
    state: 'warning',
    message: expect.stringContaining('The last one is of'),
  });
});

test('a backup is not made again because old ones cannot be deleted', async () => {
  const { platform } = homeport;
  const place = join(folder.path, 'undeletable');
  const config = { ...platform.config, platformBackup: place, platformBackupKeep: 1 };
  const [kind] = dailyPlatformBackup({ ...platform, config }, null, '0.0.0').kinds;
  if (kind === undefined) throw new Error('there is no daily backup');
  const run = () => kind.run({}, runningJob({ log: platform.log }));
  await run();
  const [first = ''] = readdirSync(place);
  clock.advance(DAY_MS);
  // Deleting it begins with a rename, which this folder with content prevents.
  mkdirSync(join(place, `.${first}.partial`, 'in the way'), { recursive: true });
  await run();
  expect(readdirSync(place).filter((name) => name.startsWith('homeport-'))).toHaveLength(2);
  expect(await finding()).toMatchObject({ state: 'ok' });
});

test('a full disk: no backup is left, and the failure is counted and said', async () => {
  const { platform } = homeport;
  const storage = createFolderStorage(join(folder.path, 'full'));
  const full = {
    ...storage,
    async begin(name: string) {
      const draft = await storage.begin(name);
      const keep = () =>
        Promise.reject(Object.assign(new Error('no space left on device'), { code: 'ENOSPC' }));
      return { ...draft, keep };
    },
  };
  await expect(
    createPlatformBackup(platform, {
      storage: full,
      websites: null,
      version: '0.0.0',
      withSealingKey: false,
    }),
  ).rejects.toThrow('Make room');
  expect(readdirSync(join(folder.path, 'full'))).toEqual([]);
  expect((await readFigures(platform.database, clock)).platformBackup.failures).toBe(1);
  clock.advance(27 * HOUR_MS);
  expect((await finding()).message).toContain('1 failed since: There is no room for the backup');
});

test('a backup is made although the database takes no writes', async () => {
  const { platform } = homeport;
  const failure = Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' });
  const database = { ...platform.database, write: () => Promise.reject(failure) };
  const storage = createFolderStorage(join(folder.path, 'unrecorded'));
  const options = { storage, websites: null, version: '0.0.0', withSealingKey: false };
  const { name } = await createPlatformBackup({ ...platform, database }, options);
  expect(await storage.list()).toEqual([name]);
});

test('a backup is made where former ones cannot be read, as in a bucket for writing only', async () => {
  const storage = createFolderStorage(join(folder.path, 'write-only'));
  const list = () => Promise.reject(new OperatorError('The storage failed: AccessDenied.'));
  const options = { websites: null, version: '0.0.0', withSealingKey: false };
  const { name } = await createPlatformBackup(homeport.platform, {
    ...options,
    storage: { ...storage, list },
  });
  expect(await storage.list()).toEqual([name]);
});

test('an interrupted backup is not listed, and is deleted after two days, but no file of others', async () => {
  const storage = createFolderStorage(join(folder.path, 'interrupted'));
  const name = 'homeport-20260501T120000Z-00000000';
  await storage.begin(name);
  const others = [
    name,
    `${name}.partial`,
    `.${name}`,
    '.photos.partial',
    `.${name}0.partial`,
    `.x-${name}.partial`,
  ];
  for (const other of others) mkdirSync(join(folder.path, 'interrupted', other));
  expect(await storage.list()).toEqual([]);
  expect(await storage.removeUnfinished(new Date('2026-05-01T12:00:00Z'))).toEqual([]);
  expect(await storage.removeUnfinished(new Date('2026-05-01T12:00:01Z'))).toEqual([name]);
  expect(readdirSync(join(folder.path, 'interrupted')).sort()).toEqual(others.sort());
});

test('a website that cannot be read is named, and all others are backed up', async () => {
  const { accountId, owner } = await homeport.ownedAccount();
  const whole = await homeport.install(owner, accountId);
  const broken = await homeport.install(owner, accountId);
  // The jobs that created them ended before the backup begins.
  clock.advance(1_000);
  const parts = websiteParts(homeport.config, clock);
  if (parts === null) throw new Error('the embedded host has websites');
  const websites: typeof parts = {
    ...parts,
    store: (install, ...rest) =>
      install.id === broken.id
        ? Promise.reject(new Error('The file "log" kept changing while it was read.'))
        : parts.store(install, ...rest),
  };
  const manifest = await createPlatformBackup(homeport.platform, {
    storage: createFolderStorage(destination),
    websites,
    version: '0.0.0',
    withSealingKey: false,
  });
  expect(manifest.websites).toContainEqual({ ...whole, missing: null, changing: false });
  expect(manifest.websites).toContainEqual({
    ...broken,
    missing: 'The file "log" kept changing while it was read.',
    changing: false,
  });
  const paths = manifest.files.map(({ path }) => path);
  expect(paths).toContain(`websites/${whole.id}.backup.jsonl`);
  expect(paths).toContain(`host/vhosts/${broken.id}.json`);
  expect(paths.filter((path) => path.startsWith(`websites/${broken.id}`))).toEqual([]);
  expect(await finding()).toMatchObject({
    state: 'warning',
    message: expect.stringContaining('1 website are'),
  });
});

test('failures of a former destination are forgotten', async () => {
  const { platform } = homeport;
  const watchedAt = (platformBackup: string | null) =>
    dailyPlatformBackup({ ...platform, config: { ...platform.config, platformBackup } }, null, '0.0.0')
      .watched;
  const failures = async () => (await readFigures(platform.database, clock)).platformBackup.failures;
  await settleChangedSettings(platform, [watchedAt('/one')]);
  await platform.database.write(async ({ queries }) => {
    const name = 'failed-run';
    await insertRun(queries, { name, destination: '/one', started_at: clock.now().toISOString() });
    await finishRun(queries, name, { finished_at: clock.now().toISOString(), bytes: null, error: 'no room' });
  });
  await settleChangedSettings(platform, [watchedAt('/one')]);
  expect(await failures()).toBeGreaterThan(0);
  await settleChangedSettings(platform, [watchedAt('/two')]);
  expect(await failures()).toBe(0);
});
