import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { activityOf } from '../../../test/activity.ts';
import { type Answer, text } from '../../../test/client.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../test/homeport.ts';
import { mailsTo } from '../../../test/mails.ts';
import { type ManualClock, manualClock } from '../../../test/manual-clock.ts';
import { NOT_FOUND, refusal } from '../../../test/refusal.ts';
import { onlyInLong } from '../../../test/rounds.ts';
import { damageBackup } from '../../../test/stored-backup.ts';
import { DAY_MS } from '../../lib/durations.ts';
import { applyInstall } from '../websites/installs/jobs.ts';
import { discardCopyBackups } from './jobs.ts';

type Install = { id: string; name: string };

let clock: ManualClock;
let homeport: TestHomeport;
let accountId: string;
let owner: Person;
let shop: Install;

beforeAll(async () => {
  clock = manualClock(new Date());
  homeport = await startTestHomeport({ clock });
  ({ accountId, owner } = await homeport.ownedAccount());
});
afterAll(() => homeport.remove());
beforeEach(async () => {
  shop = await homeport.install(owner, accountId);
});

const hostFolder = (...path: string[]) => join(homeport.config.dataDir, 'host', ...path);
const pageOf = ({ id }: Install) => hostFolder('installs', id, 'files', 'index.html');
const contentOf = (install: Install) => readFileSync(pageOf(install), 'utf8');
const snapshotsOf = ({ id }: Install) => {
  const folder = hostFolder('snapshots', id);
  return existsSync(folder) ? readdirSync(folder).join() : '';
};

async function backUp({ id }: Install, description = 'Before the change'): Promise<string> {
  const answer = await owner.client.post(`/installs/${id}/backups`, { description, notification_emails: [] });
  await homeport.idle();
  return text(answer.body, 'id');
}

const restore = (backupId: string, body: object = {}, { id }: Install = shop, person = owner) =>
  person.client.post(`/installs/${id}/backups/${backupId}/restore`, { notification_emails: [], ...body });
const remove = (backupId: string, { id }: Install = shop, person = owner) =>
  person.client.delete(`/installs/${id}/backups/${backupId}`);

async function list({ id }: Install = shop, query = '') {
  const { body } = await owner.client.get(`/installs/${id}/backups${query}`);
  return body as {
    count: number;
    next: string | null;
    results: { id: string; kind: string; status: string }[];
  };
}

/** Makes jobs of an install wait. */
const holdUp = ({ id }: Install, delayMs = 3_600_000) =>
  homeport.platform.database.write((transaction) =>
    homeport.platform.queue.enqueue(transaction, applyInstall, { payload: { id }, lane: id, delayMs }),
  );

const jobsOf = ({ id }: Install, kind: string) =>
  homeport.platform.database.reader
    .selectFrom('jobs')
    .select(['id', 'state', 'reason', 'payload'])
    .where('lane', '=', id)
    .where('kind', '=', kind)
    .orderBy('seq')
    .execute();

const operationOf = ({ headers }: Answer) => String(headers.location).split('/').at(-1);

/** Breaks a stored backup. */
const damage = ({ id }: Install, backupId: string) =>
  damageBackup({ hostFolder: hostFolder(), installId: id, backupId });

describe('the list of backups', () => {
  it('shows kind, size and times, oldest first, in pages', async () => {
    const first = await backUp(shop, 'First');
    const second = await backUp(shop, 'Second');
    const completed = {
      status: 'completed',
      create_time: expect.stringMatching(/Z$/),
      complete_time: expect.stringMatching(/Z$/),
      verified_at: expect.stringMatching(/Z$/),
      wordpress_version: null,
      kind: 'manual',
      size_bytes: expect.any(Number),
      expires_at: null,
    };
    expect(await list()).toMatchObject({
      count: 2,
      results: [
        { id: first, description: 'First', ...completed },
        { id: second, description: 'Second', ...completed },
      ],
    });
    const page = await list(shop, '?limit=1');
    expect(page).toMatchObject({ count: 2, results: [{ id: first }], next: expect.any(String) });
    const one = await owner.client.get(`/installs/${shop.id}/backups/${first}`);
    expect(one.body).toEqual((await list()).results[0]);
  });
});

describe('a restore', () => {
  it('makes a checkpoint first, and names its operation', async () => {
    writeFileSync(pageOf(shop), 'as it was');
    const backupId = await backUp(shop);
    writeFileSync(pageOf(shop), 'broken');
    const answer = await restore(backupId);
    expect(answer).toMatchObject({ status: 202, body: undefined });
    await homeport.idle();
    expect(contentOf(shop)).toBe('as it was');
    const [, checkpoint] = (await list()).results;
    expect(checkpoint).toMatchObject({
      kind: 'checkpoint',
      status: 'completed',
      expires_at: expect.any(String),
    });
    const [job] = await jobsOf(shop, 'restore_backup');
    expect(operationOf(answer)).toBe(job?.id);
    // The checkpoint is a backup like any other.
    expect((await restore(checkpoint?.id ?? '', { create_checkpoint: false })).status).toBe(202);
    await homeport.idle();
    expect(contentOf(shop)).toBe('broken');
    expect((await list()).count).toBe(2);
  });

  it('that replaced nothing leaves the website, and says so by mail', async () => {
    const backupId = await backUp(shop);
    damage(shop, backupId);
    writeFileSync(pageOf(shop), 'present');
    const to = `${shop.name}@example.com`;
    expect((await restore(backupId, { notification_emails: [to] })).status).toBe(202);
    await homeport.idle();
    expect(contentOf(shop)).toBe('present');
    const [failed, ...others] = await jobsOf(shop, 'restore_backup');
    expect(others).toEqual([]);
    expect(failed).toMatchObject({ state: 'failed', reason: expect.stringContaining('is damaged') });
    expect(mailsTo(homeport, to)).toMatchObject([
      { subject: `Restore of ${shop.name} failed`, text: expect.stringContaining('is damaged') },
    ]);
  });

  it('changes nothing if the checkpoint cannot be made', async () => {
    writeFileSync(pageOf(shop), 'backed up');
    const backupId = await backUp(shop);
    writeFileSync(pageOf(shop), 'present');
    await holdUp(shop, 1_000);
    await restore(backupId);
    // What happens if its operation is cancelled.
    await homeport.platform.database.write(({ queries }) =>
      queries
        .updateTable('jobs')
        .set({ state: 'cancelled', finished_at: clock.now().toISOString() })
        .where('lane', '=', shop.id)
        .where('kind', '=', 'create_backup')
        .where('state', '=', 'queued')
        .execute(),
    );
    clock.advance(2_000);
    await homeport.idle();
    expect(contentOf(shop)).toBe('present');
    const [failed, ...more] = await jobsOf(shop, 'restore_backup');
    expect(failed?.reason).toMatch(/^The checkpoint could not be made, so nothing was restored/);
    expect(more).toEqual([]);
  });

  it('emails members and strangers once each when it succeeds', async () => {
    const backupId = await backUp(shop);
    const [one, other] = [`one-${shop.name}@example.com`, `other-${shop.name}@example.com`];
    await restore(backupId, { notification_emails: [one, other, one.toUpperCase()] });
    await homeport.idle();
    for (const to of [one, other]) {
      expect(mailsTo(homeport, to)).toMatchObject([{ subject: `Restore of ${shop.name} completed` }]);
    }
  });

  onlyInLong(it)('limits mails to strangers like a backup', async () => {
    const emails = Array.from({ length: 50 }, (_, index) => `s${index}@${shop.name}.example.com`);
    const { owner: fresh, accountId: own } = await homeport.ownedAccount();
    const install = await homeport.install(fresh, own);
    const made = await fresh.client.post(`/installs/${install.id}/backups`, {
      description: 'x',
      notification_emails: emails,
    });
    await homeport.idle();
    const id = text(made.body, 'id');
    const more = emails.map((email) => `m${email}`);
    const path = `/installs/${install.id}/backups/${id}/restore`;
    expect((await fresh.client.post(path, { notification_emails: more })).status).toBe(202);
    const refused = await fresh.client.post(path, { notification_emails: [`x${emails[0]}`] });
    expect(refused).toMatchObject({ status: 429, headers: { 'retry-after': expect.any(String) } });
  });

  it.each<[string, object, `${string} / ${string}`, string]>([
    [
      'nothing',
      { restore_files: false, restore_database: false },
      'invalid_value / nothing_chosen',
      'Choose the files, the database or both',
    ],
    [
      'the database alone, which websites here do not have',
      { restore_files: false },
      'value_unavailable / capability_unavailable',
      'This website consists of files, without a database. Choose the files, which are the whole website.',
    ],
  ])('of %s is refused', async (_name, body, code, message) => {
    const backupId = await backUp(shop);
    expect(await restore(backupId, body)).toMatchObject(
      refusal('Backup.restore_files', code, message, message),
    );
    expect((await list()).count).toBe(1);
  });

  it('of the files alone works', async () => {
    writeFileSync(pageOf(shop), 'before');
    const backupId = await backUp(shop);
    writeFileSync(pageOf(shop), 'after');
    await restore(backupId, { restore_database: false });
    await homeport.idle();
    expect(contentOf(shop)).toBe('before');
  });

  it('of a missing, hidden or unfinished backup is refused', async () => {
    const other = await homeport.install(owner, accountId);
    const backupId = await backUp(other);
    expect(await restore(backupId)).toMatchObject(NOT_FOUND);
    expect(await restore(crypto.randomUUID())).toMatchObject(NOT_FOUND);
    const given = await homeport.person(accountId, 'partial', [shop.id]);
    expect(await restore(backupId, {}, other, given)).toMatchObject(NOT_FOUND);
    await holdUp(shop);
    const path = `/installs/${shop.id}/backups`;
    const made = await owner.client.post(path, { description: 'x', notification_emails: [] });
    expect((await restore(text(made.body, 'id'))).body).toMatchObject({
      message: 'The backup is requested; only a completed one can be restored.',
    });
  });
});

describe('a deletion', () => {
  it('removes the backup at once, and its data soon', async () => {
    const [doomed, kept] = [await backUp(shop, 'doomed'), await backUp(shop, 'kept')];
    expect(snapshotsOf(shop)).toContain(doomed);
    await holdUp(shop, 1_000);
    expect(await remove(doomed)).toMatchObject({ status: 204, body: undefined });
    expect((await list()).results.map(({ id }) => id)).toEqual([kept]);
    expect(await remove(doomed)).toMatchObject(NOT_FOUND);
    expect(await restore(doomed)).toMatchObject(NOT_FOUND);
    expect(snapshotsOf(shop)).toContain(doomed);
    clock.advance(2_000);
    await homeport.idle();
    expect(snapshotsOf(shop)).not.toContain(doomed);
    expect(snapshotsOf(shop)).toContain(kept);
    expect((await activityOf(homeport, accountId)).at(-1)).toMatchObject({
      action: 'backup.delete',
      subject_id: doomed,
      subject_name: 'doomed',
    });
  });

  it.each(['restored', 'made'])('waits while the backup is being %s', async (use) => {
    const backupId = await backUp(shop);
    await holdUp(shop, 1_000);
    const path = `/installs/${shop.id}/backups`;
    const used =
      use === 'restored'
        ? await restore(backupId).then(() => backupId)
        : text((await owner.client.post(path, { description: 'x', notification_emails: [] })).body, 'id');
    expect(await remove(used)).toMatchObject({ status: 409, body: { message: /Delete it/ } });
    clock.advance(2_000);
    await homeport.idle();
    expect((await remove(used)).status).toBe(204);
  });

  it('is repeated until it succeeds', async () => {
    const backupId = await backUp(shop);
    await remove(backupId);
    await homeport.idle();
    // As after a deletion that was given up.
    await homeport.platform.database.write(({ queries }) =>
      queries
        .insertInto('backups')
        .values({
          id: backupId,
          install_id: shop.id,
          description: 'left',
          notification_emails: '[]',
          status: 'completed',
          bytes: 1,
          files: 1,
          sha256: null,
          reason: null,
          requested_by: null,
          deleting: true,
          created_at: clock.now().toISOString(),
          finished_at: clock.now().toISOString(),
        })
        .execute(),
    );
    await sweep();
    const left = await homeport.platform.database.reader
      .selectFrom('backups')
      .select('id')
      .where('id', '=', backupId)
      .execute();
    expect(left).toEqual([]);
  });
});

const sweep = async () => {
  const { database, queue } = homeport.platform;
  await database.write((transaction) =>
    queue.enqueue(transaction, discardCopyBackups, { payload: {}, lane: null }),
  );
  await homeport.idle();
};

it('checkpoints are deleted after two weeks, unless one is the last backup', async () => {
  const backupId = await backUp(shop);
  await restore(backupId);
  await homeport.idle();
  await remove(backupId);
  clock.advance(15 * DAY_MS);
  await sweep();
  expect((await list()).results.map(({ kind }) => kind)).toEqual(['checkpoint']);
  await backUp(shop, 'newer');
  await sweep();
  expect((await list()).results.map(({ kind }) => kind)).toEqual(['manual']);
});

describe('POST /install_copy', () => {
  const copy = (from: Install, into: Install, more: object = {}, person = owner) =>
    person.client.post('/install_copy', {
      source_environment_id: from.id,
      destination_environment_id: into.id,
      ...more,
    });

  it('replaces one install by another, and emails the result', async () => {
    const staging = await homeport.install(owner, accountId);
    writeFileSync(pageOf(shop), 'live');
    writeFileSync(pageOf(staging), 'tried');
    const to = `${shop.name}@copies.example.com`;
    const answer = await copy(
      shop,
      { ...staging, id: staging.id.toUpperCase() },
      { notification_emails: [to] },
    );
    expect(answer).toMatchObject({ status: 202, body: undefined });
    expect(operationOf(answer)).toMatch(/^[0-9a-f-]{36}$/);
    await expect
      .poll(async () => {
        await homeport.idle();
        clock.advance(31_000);
        return contentOf(staging);
      })
      .toBe('live');
    await homeport.idle();
    expect(mailsTo(homeport, to)).toMatchObject([{ subject: `Copy into ${staging.name} completed` }]);
    expect(contentOf(shop)).toBe('live');
  });

  it.each([
    [{ include_files: false, include_db: false }, 'include_files', 'Choose the files, the database or both'],
    [
      { include_files: false },
      'include_files',
      'This website consists of files, without a database. Choose the files, which are the whole website.',
    ],
    [
      { db_tables: ['wp_posts'] },
      'db_tables',
      'This website consists of files, without a database. Choose the files, which are the whole website.',
    ],
    [{ include_db: false, db_tables: ['wp_posts'] }, 'db_tables', 'Tables are chosen, but not the database'],
  ])('refuses the options %j', async (custom_options, field, message) => {
    const staging = await homeport.install(owner, accountId);
    expect(await copy(shop, staging, { custom_options })).toMatchObject({
      status: 400,
      body: { message, errors: [{ resource: 'InstallCopy', field: `custom_options.${field}`, message }] },
    });
    expect((await list()).count).toBe(0);
  });

  it('needs the right to work on both installs, of one account', async () => {
    const staging = await homeport.install(owner, accountId);
    const elsewhere = await homeport.ownedAccount();
    const foreign = await homeport.install(elsewhere.owner, elsewhere.accountId);
    const partial = await homeport.person(accountId, 'partial', [shop.id]);
    const fieldsOf = ({ body }: Answer) =>
      (body as { errors: { field: string }[] }).errors.map(({ field }) => field);
    const [source, destination] = ['source_environment_id', 'destination_environment_id'];
    expect(fieldsOf(await copy(shop, staging, {}, partial))).toEqual([destination]);
    expect(fieldsOf(await copy(staging, shop, {}, partial))).toEqual([source]);
    expect(fieldsOf(await copy(staging, shop, {}, elsewhere.owner))).toEqual([source, destination]);
    expect(fieldsOf(await copy(shop, foreign))).toEqual([destination]);
    expect((await copy(shop, shop)).body).toMatchObject({ message: 'An install is not copied into itself.' });
    // A member of both accounts may not copy across them either.
    await homeport.platform.database.write(({ queries }) =>
      queries
        .insertInto('memberships')
        .values({
          account_id: elsewhere.accountId,
          user_id: owner.userId,
          role: 'owner',
          billing: false,
          invite_accepted: true,
          created_at: clock.now().toISOString(),
        })
        .execute(),
    );
    expect(fieldsOf(await copy(shop, foreign))).toEqual([destination]);
    expect(fieldsOf(await copy(foreign, shop))).toEqual([destination]);
    // Nor does the command line.
    const wanted = { parts: { files: true, database: false, tables: null }, checkpoint: false };
    const byCommand = (into: string) =>
      homeport.services.backups.copyAsOperator(shop.name, { ...wanted, into });
    await expect(byCommand(foreign.name)).rejects.toThrow('belong to different accounts');
    await expect(byCommand(shop.id)).rejects.toThrow('An install is not copied into itself.');
  });
});
