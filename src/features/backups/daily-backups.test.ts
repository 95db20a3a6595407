import { existsSync, mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { visit } from '../../../test/edge.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../test/homeport.ts';
import { type ManualClock, manualClock } from '../../../test/manual-clock.ts';
import { onlyInLong } from '../../../test/rounds.ts';
import { operatorFor } from '../../access/caller.ts';
import { maintenance } from '../../app/maintenance.ts';
import { checkBackups } from '../../cli/doctor/backups.ts';
import { timestamp } from '../../lib/clock.ts';
import { DAY_MS, HOUR_MS } from '../../lib/durations.ts';
import { readFigures } from '../../metrics/figures.ts';
import { backupAges } from './backup-ages-store.ts';
import { backUpDaily, checkRestore, discardBackup, scheduleRestoreCheck } from './jobs.ts';
import { backupTime, nightOf } from './nightly-time.ts';

let homeport: TestHomeport;
let clock: ManualClock;
let owner: Person;
let accountId: string;
/** Sorted by their times of the night. */
let installs: { id: string; name: string }[];

beforeAll(async () => {
  clock = manualClock(new Date('2026-03-04T12:00:00.000Z'));
  homeport = await startTestHomeport({
    clock,
    environment: { HOMEPORT_WORKERS: '2', HOMEPORT_BACKUP_DAYS: '3' },
  });
  ({ accountId, owner } = await homeport.ownedAccount());
  const made = [];
  for (let i = 0; i < 3; i++) made.push(await homeport.install(owner, accountId));
  installs = made.sort((a, b) => (a.id < b.id ? -1 : 1));
});
beforeEach(async () => {
  await homeport.platform.database.write(async ({ queries }) => {
    await queries.deleteFrom('backups').execute();
    await queries.deleteFrom('jobs').execute();
  });
});
afterAll(() => homeport.remove());

const reader = () => homeport.platform.database.reader;
const write = () => homeport.platform;
const filesOf = (id: string) => join(homeport.config.dataDir, 'host', 'installs', id, 'files');
const snapshots = (id: string) => {
  const folder = join(homeport.config.dataDir, 'host', 'snapshots', id);
  return existsSync(folder) ? readdirSync(folder) : [];
};

async function ask(kind: typeof backUpDaily, lane = kind.name): Promise<void> {
  const { database, queue } = write();
  await database.write((transaction) => queue.enqueue(transaction, kind, { payload: {}, lane }));
  await homeport.idle();
}

const rows = () =>
  reader()
    .selectFrom('backups')
    .select(['id', 'install_id', 'status', 'scheduled', 'description', 'created_at'])
    .orderBy('seq')
    .execute();

/** The next time at which no install is due and all backups of the last night are made up for. */
function toNextNoon(): void {
  const now = clock.now().getTime();
  const noon = nightOf(clock.now()).getTime() + 11 * HOUR_MS;
  clock.advance((noon > now ? noon : noon + DAY_MS) - now);
}

it('backs up every install at its own time, once a night', async () => {
  const now = clock.now().getTime();
  const night = nightOf(new Date(now + DAY_MS));
  const [first, second, third] = installs;
  clock.advance(backupTime(second?.id ?? '', night) - now - 1);
  await ask(backUpDaily);
  expect(await rows()).toMatchObject([
    { install_id: first?.id, status: 'completed', scheduled: true, description: 'Daily backup' },
  ]);
  clock.advance(1);
  await ask(backUpDaily);
  await ask(backUpDaily);
  expect((await rows()).map(({ install_id }) => install_id)).toEqual([first?.id, second?.id]);
  toNextNoon();
  const late = await homeport.install(owner, accountId);
  await ask(backUpDaily);
  expect((await rows()).map(({ install_id }) => install_id)).toEqual([first?.id, second?.id, third?.id]);
  expect(snapshots(third?.id ?? '')).toHaveLength(2);
  await homeport.services.installs.remove(operatorFor(owner.userId), late.id);
  await homeport.idle();
});

it('makes up for a missed night one install after the other, with a limit of one worker', async () => {
  clock.advance(3 * DAY_MS);
  await ask(backUpDaily);
  const made = await rows();
  expect(made.map(({ install_id }) => install_id)).toEqual(installs.map(({ id }) => id));
  expect(made.every(({ status }) => status === 'completed')).toBe(true);
});

it('requests none above the limit of unfinished ones, and none beside an unfinished one', async () => {
  clock.advance(DAY_MS);
  const { database } = write();
  const stuck = { install_id: installs[0]?.id ?? '', status: 'in_progress' as const };
  await database.write(({ queries }) =>
    queries
      .insertInto('backups')
      .values({
        id: crypto.randomUUID(),
        ...stuck,
        description: 'Daily backup',
        notification_emails: '[]',
        bytes: null,
        files: null,
        sha256: null,
        reason: null,
        requested_by: null,
        scheduled: true,
        created_at: new Date(clock.now().getTime() - 5 * DAY_MS).toISOString(),
        finished_at: null,
      })
      .execute(),
  );
  const held = crypto.randomUUID();
  await database.write(({ queries }) =>
    queries
      .insertInto('jobs')
      .values({
        id: held,
        kind: discardBackup.name,
        lane: null,
        payload: '{}',
        max_attempts: 1,
        run_at: new Date(clock.now().getTime() + DAY_MS).toISOString(),
        request_id: null,
        created_at: clock.now().toISOString(),
        lease_until: null,
        worker_id: null,
        error: null,
        started_at: null,
        finished_at: null,
      })
      .execute(),
  );
  await ask(backUpDaily);
  expect(await rows()).toHaveLength(1);
  // A backup that waits for an unreachable host does not count against the limit.
  await database.write(({ queries }) =>
    queries.updateTable('jobs').set({ error: 'The host is away.' }).where('id', '=', held).execute(),
  );
  await ask(backUpDaily);
  expect((await rows()).map(({ install_id }) => install_id)).toEqual(
    [installs[0], installs[1], installs[2]].map((install) => install?.id),
  );
});

it('retries an aborted backup in the same night, an hour later and at most three times', async () => {
  toNextNoon();
  const id = installs[0]?.id ?? '';
  const { database } = write();
  const mine = async () => (await rows()).filter(({ install_id }) => install_id === id);
  const abortLast = async () => {
    const last = (await mine()).at(-1)?.id ?? '';
    await database.write(({ queries }) =>
      queries
        .updateTable('backups')
        .set({ status: 'aborted', finished_at: clock.now().toISOString() })
        .where('id', '=', last)
        .execute(),
    );
  };
  await ask(backUpDaily);
  for (const count of [1, 2, 3]) {
    expect(await mine()).toHaveLength(count);
    await abortLast();
    clock.advance(HOUR_MS - 1);
    await ask(backUpDaily);
    expect(await mine()).toHaveLength(count);
    clock.advance(1);
    await ask(backUpDaily);
  }
  expect(await mine()).toHaveLength(3);
  toNextNoon();
  await ask(backUpDaily);
  expect((await mine()).map(({ status }) => status)).toEqual(['aborted', 'aborted', 'aborted', 'completed']);
});

it('requests none for installs on an unreachable host until it is back', async () => {
  toNextNoon();
  const { database } = write();
  const hostId = crypto.randomUUID();
  const [away] = installs;
  await database.write(async ({ queries }) => {
    await queries
      .insertInto('hosts')
      .values({
        id: hostId,
        name: 'web9',
        address: 'https://192.0.2.9:4443',
        accepting: true,
        description: null,
        seen_at: null,
        reason: 'nothing answers',
        created_at: clock.now().toISOString(),
      })
      .execute();
    await queries
      .updateTable('installs')
      .set({ host_id: hostId })
      .where('id', '=', away?.id ?? '')
      .execute();
  });
  await ask(backUpDaily);
  expect((await rows()).map(({ install_id }) => install_id)).toEqual(installs.slice(1).map(({ id }) => id));
  await database.write(({ queries }) => queries.updateTable('hosts').set({ reason: null }).execute());
  await ask(backUpDaily);
  expect((await rows()).at(-1)).toMatchObject({ install_id: away?.id, status: 'completed' });
  await database.write(async ({ queries }) => {
    await queries.updateTable('installs').set({ host_id: null }).execute();
    await queries.deleteFrom('hosts').execute();
  });
});

it('keeps daily backups for the retention period, the last completed one longer, and users’ backups for ever', async () => {
  const [install] = installs;
  const id = install?.id ?? '';
  const ofPerson = await homeport.services.backups.request(operatorFor(owner.userId), id, {
    description: 'before the launch',
    notification_emails: [],
  });
  await homeport.idle();
  const nights: string[][] = [];
  for (let night = 0; night < 6; night++) {
    toNextNoon();
    await ask(backUpDaily);
    nights.push((await rows()).filter(({ install_id }) => install_id === id).map((row) => row.id));
  }
  const [all, daily] = [nights.at(-1) ?? [], nights.map((seen) => seen.at(-1))];
  // Those of the last three days, and one that is exactly three days old.
  expect(all).toEqual([ofPerson.id, ...daily.slice(-4)]);
  for (const kept of all) expect(snapshots(id).join(' ')).toContain(kept);
  for (const gone of daily.slice(0, 2)) expect(snapshots(id).join(' ')).not.toContain(gone);

  // Only the last one is left. It is old, and stays whatever requests its deletion.
  clock.advance(30 * DAY_MS);
  const last = all.at(-1) ?? '';
  const { database, queue } = write();
  const discard = async (backupId: string) => {
    await database.write((transaction) =>
      queue.enqueue(transaction, discardBackup, {
        payload: { backup_id: backupId, install_id: id },
        lane: id,
      }),
    );
    await homeport.idle();
  };
  for (const one of [...all].reverse()) await discard(one);
  expect((await rows()).filter((row) => row.install_id === id).map((row) => row.id)).toEqual([
    ofPerson.id,
    last,
  ]);
  const kept = snapshots(id).join(' ');
  expect(all.filter((one) => kept.includes(one))).toEqual([ofPerson.id, last]);
});

it('restores a sample in a scratch install and leaves nothing behind', async () => {
  const { database } = write();
  toNextNoon();
  await ask(scheduleRestoreCheck);
  expect(await database.reader.selectFrom('restore_checks').selectAll().execute()).toEqual([]);
  await ask(backUpDaily);

  const before = readdirSync(join(homeport.config.dataDir, 'host', 'installs')).sort();
  for (let i = 0; i < 4; i++) {
    clock.advance(HOUR_MS);
    await ask(scheduleRestoreCheck);
  }
  const checks = await database.reader
    .selectFrom('restore_checks')
    .select(['install_id', 'took_ms', 'reason'])
    .orderBy('seq')
    .execute();
  expect(checks.map(({ reason }) => reason)).toEqual([null, null, null, null]);
  // Every install is checked once before one is checked again.
  expect(new Set(checks.slice(0, 3).map((check) => check.install_id)).size).toBe(3);
  expect(checks[3]?.install_id).toBe(checks[0]?.install_id);
  expect(readdirSync(join(homeport.config.dataDir, 'host', 'installs')).sort()).toEqual(before);
  expect(await backupAges(database.reader, timestamp(clock, -2 * DAY_MS))).toMatchObject({ without: 0 });
  const figures = await readFigures(database, clock);
  expect(figures).toMatchObject({ unrestorable: 0, lastRestoreCheck: { at: clock.now() } });
  const found = await checkBackups(database, { host: 'linux', backupDays: 3 }, clock);
  expect(found).toMatchObject([
    { check: 'backups', state: 'ok' },
    { check: 'restore checks', state: 'ok', message: expect.stringContaining('took') },
  ]);
  for (const backup of await rows()) expect(backup.status).toBe('completed');
});

it('removes the remains of an interrupted check even if the backup is gone', async () => {
  const scratch_id = crypto.randomUUID();
  const left = join(homeport.config.dataDir, 'host', 'installs', scratch_id);
  mkdirSync(left);
  const { database, queue } = write();
  await database.write((transaction) =>
    queue.enqueue(transaction, checkRestore, {
      payload: { backup_id: crypto.randomUUID(), install_id: installs[0]?.id ?? '', scratch_id },
      lane: null,
    }),
  );
  await homeport.idle();
  expect(existsSync(left)).toBe(false);
});

it('reports a backup that cannot be restored in doctor and metrics until one can', async () => {
  const { database } = write();
  toNextNoon();
  await ask(backUpDaily);
  await database.write(({ queries }) => queries.deleteFrom('restore_checks').execute());
  const [install] = installs;
  const folder = join(homeport.config.dataDir, 'host', 'snapshots', install?.id ?? '');
  renameSync(folder, `${folder}.aside`);
  for (let i = 0; i < 3; i++) await ask(scheduleRestoreCheck);
  expect(await readFigures(database, clock)).toMatchObject({ unrestorable: 1 });
  expect(await checkBackups(database, { host: 'linux', backupDays: 3 }, clock)).toMatchObject([
    { state: 'ok' },
    {
      state: 'problem',
      message: expect.stringMatching(
        new RegExp(`^A backup failed the test restore.*${install?.name} on .*no snapshot`),
      ),
    },
  ]);
  renameSync(`${folder}.aside`, folder);
  // The failed one comes again without waiting for all others.
  for (let i = 0; i < 2; i++) await ask(scheduleRestoreCheck);
  expect(await readFigures(database, clock)).toMatchObject({ unrestorable: 0 });

  // A failed check of a backup that is deleted is no problem of the present ones.
  renameSync(folder, `${folder}.aside`);
  for (let i = 0; i < 3; i++) await ask(scheduleRestoreCheck);
  expect(await readFigures(database, clock)).toMatchObject({ unrestorable: 1 });
  await database.write(({ queries }) =>
    queries
      .updateTable('backups')
      .set({ deleting: true })
      .where('install_id', '=', install?.id ?? '')
      .execute(),
  );
  expect(await readFigures(database, clock)).toMatchObject({ unrestorable: 0 });
  renameSync(`${folder}.aside`, folder);
  await database.write(({ queries }) => queries.updateTable('backups').set({ deleting: false }).execute());
  for (let i = 0; i < 2; i++) await ask(scheduleRestoreCheck);

  clock.advance(3 * DAY_MS);
  expect(await backupAges(database.reader, timestamp(clock, -2 * DAY_MS))).toMatchObject({ without: 3 });
  expect(await checkBackups(database, { host: 'linux', backupDays: 3 }, clock)).toMatchObject([
    { state: 'warning', message: expect.stringContaining(`3 installs have no backup`) },
    { state: 'ok' },
  ]);
  expect(await checkBackups(database, { host: 'linux', backupDays: 0 }, clock)).toMatchObject([
    { state: 'warning' },
  ]);
  expect(await checkBackups(database, { host: 'embedded', backupDays: 3 }, clock)).toEqual([]);
});

it('restores into another install, whose host name then serves it', async () => {
  const [source, target] = installs;
  writeFileSync(join(filesOf(source?.id ?? ''), 'page.html'), 'of the source');
  const { id } = await homeport.services.backups.request(operatorFor(owner.userId), source?.id ?? '', {
    description: 'to be copied',
    notification_emails: [],
  });
  await homeport.idle();
  await homeport.services.backups.requestRestore(id, target?.name);
  await homeport.idle();
  expect((await visit(homeport, `http://${target?.name}.localhost/page.html`)).body).toBe('of the source');
  await expect(homeport.services.backups.requestRestore(id, 'nobody')).rejects.toThrow(/no install "nobody"/);
});

onlyInLong(it)('no install may have the name of a scratch install', async () => {
  const answer = await owner.client.post('/installs', {
    name: 'restore-check-0a1b2c3d',
    account_id: accountId,
  });
  expect(answer).toMatchObject({ status: 400, body: { errors: [{ field: 'name', code: 'reserved' }] } });
});

it('is scheduled on Linux hosts with backup retention', () => {
  const names = (host: 'embedded' | 'linux', backupDays: number) => {
    const { platform } = homeport;
    const parts = { ...platform, config: { ...platform.config, host, backupDays } };
    return maintenance(parts, { warn: [{ ...scheduleRestoreCheck, name: 'warn' }], order: null })
      .schedules.map(({ name }) => name)
      .filter((name) => [backUpDaily.name, scheduleRestoreCheck.name].includes(name));
  };
  expect(names('embedded', 14)).toEqual([]);
  expect(names('linux', 0)).toEqual([]);
  expect(names('linux', 14)).toEqual([backUpDaily.name, scheduleRestoreCheck.name]);
});
