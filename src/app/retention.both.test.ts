import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type JobsFixture, openJobsFixture } from '../../test/jobs.ts';
import { timestamp } from '../lib/clock.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../lib/durations.ts';
import { systemRandomness } from '../lib/ids.ts';
import { createActivityLog } from '../platform/activity-log.ts';
import { createTidyJob } from './retention.ts';

let jobs: JobsFixture;
beforeAll(async () => {
  jobs = await openJobsFixture();
});
beforeEach(() => jobs.clear());
afterAll(() => jobs.remove());

async function tidy(): Promise<void> {
  const kind = createTidyJob(jobs);
  await jobs.ask(kind, {});
  const worker = jobs.worker([kind]);
  await worker.idle();
  // Otherwise it may claim the next job, for which the next worker does not wait.
  await worker.stop(0);
}

function addActivity(accountId: string, names: string[], at = timestamp(jobs.clock)) {
  const rows = names.map((subject_name) => ({
    id: crypto.randomUUID(),
    account_id: accountId,
    at,
    action: 'site.create',
    subject_id: null,
    subject_name,
    install_id: null,
    details: null,
    user_id: null,
    user_name: 'Homeport',
    means: 'platform' as const,
    credential_id: null,
    credential_name: null,
    address: null,
    request_id: null,
  }));
  return jobs.database.write(({ queries }) => queries.insertInto('activity').values(rows).execute());
}

async function addAccount(): Promise<string> {
  const id = crypto.randomUUID();
  await jobs.database.write(({ queries }) =>
    queries
      .insertInto('accounts')
      .values({ id, name: 'An account', created_at: timestamp(jobs.clock) })
      .execute(),
  );
  return id;
}

async function addPerson(): Promise<string> {
  const id = crypto.randomUUID();
  const email = `${id}@x.example`;
  await jobs.database.write(({ queries }) =>
    queries
      .insertInto('users')
      .values({
        id,
        email,
        email_key: email,
        first_name: 'A',
        last_name: 'B',
        phone: null,
        password_hash: null,
        created_at: timestamp(jobs.clock),
      })
      .execute(),
  );
  return id;
}

describe('retention', () => {
  it('keeps activity for a year and deletes all older entries', async () => {
    const accountId = await addAccount();
    const names = async () => {
      const rows = await jobs.database.reader
        .selectFrom('activity')
        .select('subject_name')
        .where('account_id', '=', accountId)
        .orderBy('seq')
        .execute();
      return rows.map((row) => row.subject_name);
    };
    await addActivity(
      accountId,
      Array.from({ length: 1_100 }, (_, index) => `old ${index}`),
    );
    jobs.clock.advance(2 * MINUTE_MS);
    await addActivity(accountId, ['young']);
    jobs.clock.advance(365 * DAY_MS - MINUTE_MS);
    await tidy();
    expect(await names()).toEqual(['young']);
    jobs.clock.advance(2 * MINUTE_MS);
    await tidy();
    expect(await names()).toEqual([]);
  });

  it('deletes expired links at once, and sessions after seven days', async () => {
    const user = await addPerson();
    const now = timestamp(jobs.clock);
    const session = (name: string, expires_at: string, last_seen_at = now) => ({
      id: crypto.randomUUID(),
      token_hash: name,
      user_id: user,
      awaits_second_factor: false,
      address: '192.0.2.1',
      user_agent: null,
      last_seen_at,
      expires_at,
      created_at: now,
    });
    const link = (token_hash: string, expires_at: string) => ({
      token_hash,
      user_id: user,
      purpose: 'reset' as const,
      expires_at,
      created_at: now,
    });
    await jobs.database.write(async ({ queries }) => {
      await queries
        .insertInto('sessions')
        .values([
          session('expired', timestamp(jobs.clock, -1)),
          session('long expired', timestamp(jobs.clock, -7 * DAY_MS)),
          { ...session('begun', timestamp(jobs.clock, -1)), awaits_second_factor: true },
          { ...session('never completed', timestamp(jobs.clock, -HOUR_MS)), awaits_second_factor: true },
          session('unused', timestamp(jobs.clock, DAY_MS), timestamp(jobs.clock, -DAY_MS)),
          session('long unused', timestamp(jobs.clock, DAY_MS), timestamp(jobs.clock, -8 * DAY_MS)),
          session('alive', timestamp(jobs.clock, DAY_MS)),
        ])
        .execute();
      await queries
        .insertInto('password_links')
        .values([link('expired', timestamp(jobs.clock, -1)), link('alive', timestamp(jobs.clock, DAY_MS))])
        .execute();
      await queries
        .insertInto('email_changes')
        .values({
          user_id: user,
          id: crypto.randomUUID(),
          email: 'b@x.example',
          token_hash: 'expired',
          expires_at: timestamp(jobs.clock, -1),
          created_at: now,
        })
        .execute();
    });
    await tidy();
    const { reader } = jobs.database;
    expect(await reader.selectFrom('email_changes').selectAll().execute()).toEqual([]);
    const sessions = await reader.selectFrom('sessions').select('token_hash').orderBy('seq').execute();
    const links = await reader.selectFrom('password_links').select('token_hash').execute();
    expect({ sessions, links }).toEqual({
      sessions: ['expired', 'begun', 'unused', 'alive'].map((token_hash) => ({ token_hash })),
      links: [{ token_hash: 'alive' }],
    });
  });

  it('removes credentials thirty days after their revocation or expiry; their names stay', async () => {
    const { clock, database } = jobs;
    const now = timestamp(clock);
    const [user, accountId] = [await addPerson(), await addAccount()];
    const credential = (name: string, revoked_at: string | null, expires_at: string | null) => ({
      id: crypto.randomUUID(),
      user_id: user,
      name,
      password_hash: name,
      expires_at,
      revoked_at,
      last_used_at: null,
      account_id: null,
      install_ids: null,
      created_at: now,
    });
    const [long, short] = [timestamp(clock, -30 * DAY_MS - 1), timestamp(clock, -30 * DAY_MS)];
    const gone = credential('revoked long ago', long, null);
    await database.write(async (transaction) => {
      await transaction.queries
        .insertInto('credentials')
        .values([
          gone,
          credential('revoked', short, null),
          credential('expired long ago', null, long),
          credential('expired, then revoked', short, long),
          credential('expired', null, short),
          credential('ends one day', null, timestamp(clock, DAY_MS)),
          credential('works', null, null),
        ])
        .execute();
      const origin = { means: 'api', credentialId: gone.id, address: null, requestId: null } as const;
      await createActivityLog({ clock, random: systemRandomness }).record(
        transaction,
        { userId: user, limits: null, origin },
        accountId,
        { action: 'site.create', subject: { id: null, name: 'A site' } },
      );
    });
    await tidy();
    const { reader } = database;
    const left = await reader.selectFrom('credentials').select('name').orderBy('seq').execute();
    expect(left.map(({ name }) => name)).toEqual([
      'revoked',
      'expired, then revoked',
      'expired',
      'ends one day',
      'works',
    ]);
    const written = reader.selectFrom('activity').select(['credential_id', 'credential_name']);
    expect(await written.where('account_id', '=', accountId).execute()).toEqual([
      { credential_id: gone.id, credential_name: 'revoked long ago' },
    ]);
  });

  it('keeps the changes that clients may still need', async () => {
    if (jobs.database.dialect === 'postgres') return;
    const accountId = await addAccount();
    for (let part = 0; part < 6; part++) {
      await addActivity(
        accountId,
        Array.from({ length: 1_000 }, (_, index) => `n${index}`),
      );
    }
    await tidy();
    const { count } = await jobs.database.reader
      .selectFrom('changes')
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow();
    expect(count).toBe(5_000);
  });
});

it('deletes the answers to idempotent requests after a day', async () => {
  const owner_id = crypto.randomUUID();
  const row = (key: string, age: number) => ({
    owner_id,
    key,
    fingerprint: 'a',
    status: 204,
    sealed_answer: null,
    created_at: timestamp(jobs.clock, -age),
  });
  const rows = [row('old', DAY_MS + MINUTE_MS), row('young', DAY_MS - MINUTE_MS)];
  await jobs.database.write(({ queries }) => queries.insertInto('idempotency_keys').values(rows).execute());
  await tidy();
  const left = await jobs.database.reader
    .selectFrom('idempotency_keys')
    .select('key')
    .where('owner_id', '=', owner_id)
    .execute();
  expect(left).toEqual([{ key: 'young' }]);
});

it('keeps moves that left nothing behind for 30 days, and all others', async () => {
  const install_id = crypto.randomUUID();
  const move = (install_name: string, age: number | null) => ({
    ...{ id: crypto.randomUUID(), install_id, install_name, step: 'moved' as const },
    ...{ from_host: crypto.randomUUID(), to_host: crypto.randomUUID(), job_id: crypto.randomUUID() },
    requested_at: timestamp(jobs.clock, -400 * DAY_MS),
    cleared_at: age === null ? null : timestamp(jobs.clock, -age),
  });
  const rows = [move('old', 31 * DAY_MS), move('young', 29 * DAY_MS), move('with a copy', null)];
  await jobs.database.write(({ queries }) => queries.insertInto('moves').values(rows).execute());
  await tidy();
  const left = await jobs.database.reader
    .selectFrom('moves')
    .select('install_name as name')
    .where('install_id', '=', install_id)
    .orderBy('seq')
    .execute();
  expect(left.map(({ name }) => name)).toEqual(['young', 'with a copy']);
});
