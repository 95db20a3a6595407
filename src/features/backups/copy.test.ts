import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Value } from 'typebox/value';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { activityOf } from '../../../test/activity.ts';
import { type DatabasePlace, migratedPlace } from '../../../test/database.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../test/homeport.ts';
import { type ManualClock, manualClock } from '../../../test/manual-clock.ts';
import { signedIn } from '../../../test/portal-client.ts';
import { onlyInLong } from '../../../test/rounds.ts';
import { damageBackup } from '../../../test/stored-backup.ts';
import { type Caller, operatorFor } from '../../access/caller.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../lib/durations.ts';
import { InvalidRequest, NotFound } from '../../lib/failures.ts';
import { applyInstall } from '../websites/installs/jobs.ts';
import { putCheckpointBack } from './checkpoints.ts';
import { discardCopyBackups, restoreBackup } from './jobs.ts';
import { EVERYTHING, partsOfJob } from './replaced-parts.ts';

type Install = { id: string; name: string };

let place: DatabasePlace;
let clock: ManualClock;
let homeport: TestHomeport;
let accountId: string;
let owner: Person;
let source: Install;
let target: Install;

beforeAll(async () => {
  place = await migratedPlace();
  clock = manualClock();
  homeport = await startTestHomeport({ clock, place });
  ({ accountId, owner } = await homeport.ownedAccount());
  source = await homeport.install(owner, accountId);
  target = await homeport.install(owner, accountId);
});
afterAll(async () => {
  await homeport.remove();
  await place.remove();
});

const filesOf = ({ id }: Install) => join(homeport.config.dataDir, 'host', 'installs', id, 'files');
const pageOf = (install: Install) => join(filesOf(install), 'index.html');
const snapshotsOf = ({ id }: Install) => {
  const folder = join(homeport.config.dataDir, 'host', 'snapshots', id);
  return existsSync(folder) ? readdirSync(folder) : [];
};
const callerOf = ({ userId }: Person): Caller => ({
  userId,
  limits: null,
  origin: { means: 'portal', credentialId: null, address: '203.0.113.7', requestId: 'asked-for-it' },
});
const copy = (keepBackup = false, into: Install = target, from: Install = source, person = owner) =>
  homeport.services.backups.copy(callerOf(person), from.id, {
    into: into.id,
    keepBackup,
    checkpoint: false,
    parts: EVERYTHING,
    notification_emails: [],
  });
const backups = async (of: Install = source) =>
  (await homeport.services.backups.list(callerOf(owner), of.id, { limit: 100, offset: 0 })).results;
const operations = async (of: Install, person = owner) =>
  (await homeport.services.installOperations.list(callerOf(person), of.id)).results;

/** Runs until no jobs are left, delayed ones included. */
async function finish(): Promise<void> {
  for (let times = 0; times < 6; times += 1) {
    await homeport.idle();
    clock.advance(MINUTE_MS);
  }
}

/** Occupies the lane of an install for so long. */
const holdUp = ({ id }: Install, delayMs = HOUR_MS) =>
  homeport.platform.database.write((transaction) =>
    homeport.platform.queue.enqueue(transaction, applyInstall, {
      payload: { id },
      lane: id,
      delayMs,
    }),
  );

it('shows on the target from the start, step by step, and deletes its backup in the end', async () => {
  writeFileSync(pageOf(source), 'what visitors see');
  writeFileSync(pageOf(target), 'what was tried');
  await holdUp(source);
  const client = await signedIn(homeport, owner);
  const asked = await client.post(`/installs/${source.id}/copy`, { into_install_id: target.id });
  expect(asked.status).toBe(202);
  const [waiting] = await operations(target);
  expect(asked.body).toEqual({ operation_id: waiting?.id });
  expect(waiting).toMatchObject({
    kind: 'install.copy',
    copy: { from: source.name, step: 'waiting' },
  });
  await homeport.idle();
  expect((await operations(target))[0]).toMatchObject({
    status: 'queued',
    attempt: 0,
    error: {
      code: 'waiting',
      message: 'The backup of the install that is copied has not begun yet.',
      advice: null,
    },
  });
  expect((await client.get(`/installs/${source.id}/backups`)).body).toMatchObject({
    results: [{ description: 'Copy into another install', status: 'requested', for_copy: true }],
  });
  clock.advance(HOUR_MS);
  await finish();
  expect(readFileSync(pageOf(target), 'utf8')).toBe('what visitors see');
  expect((await operations(target))[0]).toMatchObject({
    kind: 'install.copy',
    status: 'succeeded',
    copy: { from: source.name, step: null },
  });
  expect(await backups()).toEqual([]);
  expect(snapshotsOf(source)).toEqual([]);
});

it('reports its progress', async () => {
  await holdUp(source);
  await copy();
  const step = async (
    kind: 'prepare_copy' | 'copy_install',
    status: 'requested' | 'in_progress' | 'completed',
    state: 'queued' | 'running',
  ) => {
    const { database } = homeport.platform;
    await database.write(async ({ queries }) => {
      await queries.updateTable('backups').set({ status }).where('install_id', '=', source.id).execute();
      await queries
        .updateTable('jobs')
        .set({ state, kind })
        .where('lane', '=', `copies:${target.id}`)
        .where('state', 'in', ['queued', 'running'])
        .execute();
    });
    return (await operations(target))[0]?.copy?.step;
  };
  await homeport.idle();
  expect(await step('prepare_copy', 'in_progress', 'queued')).toBe('backing_up');
  expect(await step('prepare_copy', 'completed', 'running')).toBe('waiting');
  expect(await step('copy_install', 'completed', 'queued')).toBe('waiting');
  expect(await step('copy_install', 'completed', 'running')).toBe('restoring');
  expect(await step('prepare_copy', 'requested', 'queued')).toBe('waiting');
  clock.advance(HOUR_MS);
  await finish();
  expect(await backups()).toEqual([]);
});

it('delays no other operation of the target while its backup waits', async () => {
  await holdUp(source);
  await copy();
  await homeport.services.backups.request(callerOf(owner), target.id, {
    description: 'before the copy',
    notification_emails: [],
  });
  await homeport.idle();
  expect((await operations(target)).slice(0, 2)).toMatchObject([
    { kind: 'backup.create', status: 'succeeded' },
    { kind: 'install.copy', status: 'queued' },
  ]);
  clock.advance(HOUR_MS);
  await finish();
  expect((await operations(target)).slice(0, 2)).toMatchObject([
    { kind: 'backup.create', status: 'succeeded' },
    { kind: 'install.copy', status: 'succeeded' },
  ]);
});

it('is given up if its backup is not complete within a day', async () => {
  const before = await backups();
  writeFileSync(pageOf(target), 'as it was');
  await holdUp(source, 2 * DAY_MS);
  await copy();
  await homeport.idle();
  clock.advance(DAY_MS + HOUR_MS);
  await finish();
  expect((await operations(target))[0]).toMatchObject({ kind: 'install.copy', status: 'failed' });
  clock.advance(DAY_MS);
  await finish();
  expect(readFileSync(pageOf(target), 'utf8')).toBe('as it was');
  expect(await backups()).toEqual(before);
});

it('keeps the backup on request, and names both installs in the activity', async () => {
  await copy(true);
  await finish();
  expect(await backups()).toMatchObject([
    { description: 'Copy into another install', status: 'completed', for_copy: false },
  ]);
  expect((await activityOf(homeport, accountId)).slice(-2)).toMatchObject([
    { action: 'backup.create', install_id: source.id, subject_name: 'Copy into another install' },
    {
      action: 'install.copy',
      subject_id: source.id,
      subject_name: source.name,
      install_id: target.id,
      details: { to: target.name, backup_kept: true },
      user_id: owner.userId,
      request_id: 'asked-for-it',
    },
  ]);
});

it('replaces nothing if the backup fails, gives the reason and leaves no backup behind', async () => {
  const before = await backups();
  writeFileSync(pageOf(target), 'as it was');
  renameSync(filesOf(source), `${filesOf(source)}.aside`);
  await copy();
  await finish();
  renameSync(`${filesOf(source)}.aside`, filesOf(source));
  expect(readFileSync(pageOf(target), 'utf8')).toBe('as it was');
  expect((await operations(target))[0]).toMatchObject({
    kind: 'install.copy',
    status: 'failed',
    error: {
      code: 'source_backup_failed',
      message:
        'The backup of the install that was to be copied could not be made, and nothing was replaced. Why stands with that install.',
    },
  });
  expect(await backups()).toEqual(before);
  const about = { installId: source.id, limit: 1, offset: 0 };
  expect(await homeport.services.overview.attention(callerOf(owner), accountId, about)).toEqual({
    count: 0,
    results: [],
  });
});

it('leaves nothing behind if the target is deleted during the backup', async () => {
  const [before, snapshots] = [await backups(), snapshotsOf(source)];
  const doomed = await homeport.install(owner, accountId);
  await holdUp(source);
  await copy(false, doomed);
  await homeport.services.installs.remove(operatorFor(owner.userId), doomed.id);
  clock.advance(HOUR_MS);
  await finish();
  expect(await backups()).toEqual(before);
  expect(snapshotsOf(source)).toEqual(snapshots);
});

onlyInLong(it)('leaves nothing behind if the target is deleted after the backup', async () => {
  const [before, snapshots] = [await backups(), snapshotsOf(source)];
  const doomed = await homeport.install(owner, accountId);
  await holdUp(doomed);
  await copy(false, doomed);
  await finish();
  expect((await operations(doomed))[0]).toMatchObject({ kind: 'install.copy', status: 'queued' });
  await homeport.services.installs.remove(operatorFor(owner.userId), doomed.id);
  await finish();
  expect(await backups()).toMatchObject([{ description: 'Copy into another install' }, ...before]);
  const { database, queue } = homeport.platform;
  await database.write((transaction) =>
    queue.enqueue(transaction, discardCopyBackups, { payload: {}, lane: 'maintenance' }),
  );
  await finish();
  expect(await backups()).toEqual(before);
  expect(snapshotsOf(source)).toEqual(snapshots);
});

it('fails if the source is deleted meanwhile', async () => {
  const doomed = await homeport.install(owner, accountId);
  await holdUp(doomed);
  await copy(false, target, doomed);
  await homeport.services.installs.remove(operatorFor(owner.userId), doomed.id);
  await finish();
  expect((await operations(target))[0]).toMatchObject({
    status: 'failed',
    error: {
      code: 'source_missing',
      message: 'The install that was to be copied is gone, and its backups with it. Nothing was replaced.',
    },
    copy: { from: null, step: null },
  });
});

onlyInLong(it)('continues in the next process', async () => {
  const before = await backups();
  writeFileSync(pageOf(source), 'before the crash');
  await holdUp(source);
  await copy();
  await homeport.idle();
  await homeport.stop(0);
  clock.advance(HOUR_MS);
  homeport = await startTestHomeport({ clock, place });
  await finish();
  expect(readFileSync(pageOf(target), 'utf8')).toBe('before the crash');
  expect(await backups()).toEqual(before);
});

it('refuses to restore a backup made only for a copy', async () => {
  await holdUp(source);
  await copy();
  const [backup] = await backups();
  const asked = homeport.services.backups.restore(callerOf(owner), source.id, backup?.id ?? '', {
    into: null,
    parts: EVERYTHING,
    checkpoint: false,
    notification_emails: [],
  });
  await expect(asked).rejects.toBeInstanceOf(InvalidRequest);
  clock.advance(HOUR_MS);
  await finish();
});

it('backs up the target first on request, and names the checkpoint', async () => {
  const other = await homeport.install(owner, accountId);
  writeFileSync(pageOf(source), 'copied');
  writeFileSync(pageOf(other), 'tried there');
  const client = await signedIn(homeport, owner);
  const body = { into_install_id: other.id, create_checkpoint: true };
  expect((await client.post(`/installs/${source.id}/copy`, body)).status).toBe(202);
  await finish();
  expect(readFileSync(pageOf(other), 'utf8')).toBe('copied');
  const [checkpoint] = await backups(other);
  expect(checkpoint).toMatchObject({ checkpoint: true, status: 'completed', expires_at: expect.any(String) });
  const [copied] = await operations(other);
  expect(copied).toMatchObject({ kind: 'install.copy', result: { checkpoint_id: checkpoint?.id } });
  await client.post(`/installs/${other.id}/backups/${checkpoint?.id}/restore`, {});
  await finish();
  expect(readFileSync(pageOf(other), 'utf8')).toBe('tried there');
});

it('that is refused before it replaced anything says why, and leaves the website', async () => {
  const other = await homeport.install(owner, accountId);
  writeFileSync(pageOf(other), 'tried there');
  await holdUp(other);
  await homeport.services.backups.copy(callerOf(owner), source.id, {
    into: other.id,
    keepBackup: false,
    checkpoint: true,
    parts: EVERYTHING,
    notification_emails: [],
  });
  await finish();
  const copied = (await backups()).find(({ for_copy }) => for_copy);
  const hostFolder = join(homeport.config.dataDir, 'host');
  damageBackup({ hostFolder, installId: source.id, backupId: copied?.id ?? '' });
  clock.advance(HOUR_MS);
  await finish();
  expect((await operations(other))[0]).toMatchObject({
    kind: 'install.copy',
    status: 'failed',
    error: {
      code: 'change_refused',
      message: 'The backup that was to be copied is damaged. Make a new one.',
    },
  });
  expect(readFileSync(pageOf(other), 'utf8')).toBe('tried there');
});

it('puts only the tables back that the copy replaces', async () => {
  const { platform, services } = homeport;
  const { id } = await services.backups.request(callerOf(owner), target.id, {
    description: 'x',
    notification_emails: [],
  });
  await finish();
  const replacement = { install_id: target.id, checkpoint_id: id, files: false, tables: ['wp_posts'] };
  await platform.database.write((transaction) => putCheckpointBack(platform, transaction, replacement));
  const jobs = platform.database.reader.selectFrom('jobs').where('kind', '=', restoreBackup.name);
  const job = await jobs.select('payload').orderBy('seq', 'desc').executeTakeFirstOrThrow();
  const payload = Value.Parse(restoreBackup.payload, job.payload);
  expect(partsOfJob(payload)).toEqual({ files: false, database: ['wp_posts'], dropAbsent: true });
  await homeport.idle();
  // This host has no tables, so each attempt fails, and what follows would wait for the last one.
  await platform.database.write(({ queries }) =>
    queries.deleteFrom('jobs').where('kind', '=', restoreBackup.name).execute(),
  );
});

it('hides the name of the source from users who do not see it', async () => {
  const given = await homeport.person(accountId, 'partial', [target.id]);
  await copy();
  await finish();
  expect((await operations(target, given))[0]).toMatchObject({ kind: 'install.copy', copy: { from: null } });
});

it('is refused without rights on either install, before any backup', async () => {
  const given = await homeport.person(accountId, 'partial', [source.id]);
  const { owner: stranger } = await homeport.ownedAccount();
  const before = await backups();
  await expect(copy(false, target, source, given)).rejects.toBeInstanceOf(InvalidRequest);
  await expect(copy(false, source, target, given)).rejects.toBeInstanceOf(NotFound);
  await expect(copy(false, target, source, stranger)).rejects.toBeInstanceOf(NotFound);
  await expect(copy(false, { ...source, id: source.id.toUpperCase() })).rejects.toBeInstanceOf(
    InvalidRequest,
  );
  await expect(copy(false, { ...source, id: crypto.randomUUID() })).rejects.toBeInstanceOf(InvalidRequest);
  expect(await backups()).toEqual(before);
});
