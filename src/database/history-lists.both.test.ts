import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openTestDatabase } from '../../test/database.ts';
import { activityBefore, pageOfActivity, peopleInActivity } from '../features/accounts/activity/store.ts';
import { ACTIONS, kindOf } from '../platform/activity-log.ts';
import { historyLists } from './migrations/0066-history-lists.ts';
import { POSTGRES_TYPES, SQLITE_TYPES } from './migrations/column-types.ts';

const at = '2026-01-01T00:00:00.000Z';

let database: Awaited<ReturnType<typeof openTestDatabase>>;
const [origin, destination, install] = [crypto.randomUUID(), crypto.randomUUID(), crypto.randomUUID()];
const FINAL = { done: 'succeeded', failed: 'failed', cancelled: 'cancelled', refused: 'succeeded' } as const;
const jobOf = Object.fromEntries([...Object.keys(FINAL), 'again'].map((name) => [name, crypto.randomUUID()]));

beforeAll(async () => {
  database = await openTestDatabase();
  await database.write(async ({ queries }) => {
    for (const id of [origin, destination])
      await queries.insertInto('accounts').values({ id, name: 'One', created_at: at }).execute();
    await queries
      .insertInto('installs')
      .values({
        ...{ id: install, account_id: origin, site_id: null, environment: null, name: 'shop' },
        ...{ status: 'active', php_version: null, stable_ips: null, created_at: at },
        ...{ offload_file_name: 'a', offload_file_content: 'b' },
      })
      .execute();
    for (const id of Object.values(jobOf)) {
      await queries
        .insertInto('jobs')
        .values({ id, kind: 'a', payload: '{}', max_attempts: 1, run_at: at, created_at: at })
        .execute();
    }
    for (const id of Object.values(jobOf).slice(0, -1)) {
      await queries
        .insertInto('operations')
        .values({ id, kind: 'install.apply', job_id: id, account_id: origin, result: null, created_at: at })
        .execute();
    }
    await queries
      .insertInto('uptime_incidents')
      .values({
        ...{ id: crypto.randomUUID(), install_id: install, cause: 'status', message: 'It failed' },
        ...{ php_error: null, started_at: at, confirmed_at: at, ended_at: null, end_kind: null },
      })
      .execute();
  });
});
afterAll(() => database.remove());

async function outcomes() {
  const rows = await database.reader.selectFrom('operations').select(['id', 'outcome']).execute();
  const found = new Map(rows.map(({ id, outcome }) => [id, outcome]));
  return Object.fromEntries(Object.keys(FINAL).map((name) => [name, found.get(jobOf[name] ?? '')]));
}

const owners = async () =>
  (await database.reader.selectFrom('uptime_incidents').select('account_id').execute()).map(
    ({ account_id }) => account_id,
  );

const ENDED = { done: null, failed: 'failed', cancelled: 'cancelled', refused: 'failed' };

it('an operation has the outcome of its job, and of its own failure', async () => {
  await database.write(async ({ queries }) => {
    // Its work goes on for a moment.
    await queries
      .updateTable('operations')
      .set({ error_code: 'refused' })
      .where('job_id', '=', jobOf.refused ?? '')
      .execute();
  });
  expect(await outcomes()).toEqual({ done: null, failed: null, cancelled: null, refused: null });
  await database.write(async ({ queries }) => {
    for (const [name, state] of Object.entries(FINAL))
      await queries
        .updateTable('jobs')
        .set({ state })
        .where('id', '=', jobOf[name] ?? '')
        .execute();
  });
  expect(await outcomes()).toEqual(ENDED);
});

it('what an earlier version stored is filled in, without a change that users follow', async () => {
  const statements = historyLists(
    database.dialect === 'sqlite' ? SQLITE_TYPES : POSTGRES_TYPES,
    database.dialect,
  );
  const changes = () => database.reader.selectFrom('changes').select('seq').execute();
  const before = database.dialect === 'sqlite' ? await changes() : [];
  await database.write(async ({ queries }) => {
    await queries.updateTable('operations').set({ outcome: null }).execute();
    await queries.updateTable('uptime_incidents').set({ account_id: null }).execute();
    for (const statement of statements.filter((one) => one.startsWith('update ')))
      await sql.raw(statement).execute(queries);
  });
  if (database.dialect === 'sqlite') expect(await changes()).toEqual(before);
  expect(await outcomes()).toEqual(ENDED);
  expect(await owners()).toEqual([origin]);
});

it('an operation that is tried again has no outcome, until its next job ends', async () => {
  const { failed = '', again = '' } = jobOf;
  await database.write(async ({ queries }) => {
    await queries.updateTable('operations').set({ job_id: again }).where('id', '=', failed).execute();
  });
  expect((await outcomes()).failed).toBeNull();
  await database.write(async ({ queries }) => {
    await queries.updateTable('jobs').set({ state: 'cancelled' }).where('id', '=', again).execute();
  });
  expect((await outcomes()).failed).toBe('cancelled');
});

it('an incident belongs to the account of its install, also after a transfer', async () => {
  await database.write(async ({ queries }) => {
    await queries
      .updateTable('installs')
      .set({ account_id: destination })
      .where('id', '=', install)
      .execute();
  });
  expect(await owners()).toEqual([destination]);
});

it('the people in the activity are found once each, with their last names', async () => {
  const [ada, bob] = [crypto.randomUUID(), crypto.randomUUID()];
  const entry = (hour: number, user_id: string | null, user_name: string, account_id = origin) => ({
    ...{ id: crypto.randomUUID(), account_id, at: `2026-01-01T0${hour}:00:00.000Z`, action: 'site.create' },
    ...{ subject_id: null, subject_name: 'Shop', install_id: null, install_name: null, details: null },
    ...{ user_id, user_name, means: 'portal' as const, credential_id: null, credential_name: null },
    ...{ address: null, request_id: null },
  });
  await database.write(({ queries }) =>
    queries
      .insertInto('activity')
      .values([
        entry(3, ada, 'Ada Lovelace'),
        entry(1, ada, 'Ada'),
        entry(2, bob, 'Bob'),
        entry(2, null, 'Homeport'),
        entry(4, bob, 'Robert', destination),
      ])
      .execute(),
  );
  const scope = { accountId: origin, userId: null, installIds: null, filter: {} };
  const people = [
    { user_id: ada, user_name: 'Ada Lovelace' },
    { user_id: bob, user_name: 'Bob' },
  ];
  expect(await peopleInActivity(database.reader, scope)).toEqual(people);
  // An export goes on after the entry before.
  const [first, ...rest] = await activityBefore(database.reader, scope, null, 9);
  expect([first, ...rest].map((one) => one?.user_name)).toEqual(['Ada Lovelace', 'Homeport', 'Bob', 'Ada']);
  expect(await activityBefore(database.reader, scope, first ?? null, 9)).toEqual(rest);
  const ofKind = await pageOfActivity(
    database.reader,
    { ...scope, filter: { kind: 'site' } },
    { limit: 1, offset: 1 },
  );
  expect(ofKind).toMatchObject({ count: 4, hasNext: true, results: [{ user_name: 'Homeport' }] });
});

it('the index knows the kind of every action', async () => {
  for (const action of ACTIONS) {
    const { rows } = await sql<{ kind: string }>`
      select rtrim(${sql.lit(action)}, 'abcdefghijklmnopqrstuvwxyz_') as kind`.execute(database.reader);
    expect(rows).toEqual([{ kind: `${kindOf(action)}.` }]);
  }
});
