import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { openTestDatabase } from '../../../../test/database.ts';
import type { Scope } from '../../../access/memberships.ts';
import type { Queries } from '../../../database/database.ts';
import { storedCount } from './counts-store.ts';
import { miscountedAccounts, recountAccount } from './recount-store.ts';

const now = '2026-01-02T03:04:05.678Z';

let database: Awaited<ReturnType<typeof openTestDatabase>>;
/** Two accounts with four installs each. One install has waiting updates. */
let [one, other]: [string, string] = ['', ''];
let installs: string[];

beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.remove());
beforeEach(async () => {
  [one, other] = [crypto.randomUUID(), crypto.randomUUID()];
  await change(async (queries) => {
    for (const id of [one, other]) {
      await queries
        .insertInto('accounts')
        .values({ id, name: 'An account', install_count: 4, created_at: now })
        .execute();
    }
  });
  await add(other);
  installs = await add(one);
});

const change = <Result>(work: (queries: Queries) => Promise<Result>): Promise<Result> =>
  database.write(({ queries }) => work(queries));

async function add(account_id: string): Promise<string[]> {
  const rows = (['active', 'active', 'pending', 'failed'] as const).map((status, index) => ({
    id: crypto.randomUUID(),
    account_id,
    environment: index === 0 ? ('production' as const) : null,
    name: `i${crypto.randomUUID()}`,
    status,
    php_version: null,
    site_id: null,
    stable_ips: null,
    offload_file_name: 'a',
    offload_file_content: 'b',
    created_at: now,
  }));
  const ids = rows.map(({ id }) => id);
  await change(async (queries) => {
    await queries.insertInto('installs').values(rows).execute();
    await queries
      .insertInto('wordpress_readings')
      .values({
        install_id: ids[1] ?? '',
        plugin_updates: 2,
        theme_updates: 1,
        core_update: '7.2',
        due_at: now,
      })
      .execute();
  });
  return ids;
}

async function counts(account_id: string, values: Parameters<typeof storedCount>[2]): Promise<number> {
  const { install_count } = await database.reader
    .selectFrom('accounts')
    .select('install_count')
    .where('id', '=', account_id)
    .executeTakeFirstOrThrow();
  const member = { account_id, role: 'owner', billing: true, site_count: 0, install_count } as const;
  const scope: Scope = { userId: '', whole: [member], partial: [], installIds: null };
  return storedCount(database.reader, scope, values);
}

const ALL = {
  active: { status: 'active' },
  failed: { status: 'failed' },
  production: { environment: 'production' },
  none: { environment: null },
  'active in production': { status: 'active', environment: 'production' },
  waiting: { waiting: true },
} as const;

async function everyCount(account: string): Promise<Record<string, number>> {
  const entries = Object.entries(ALL).map(async ([name, values]) => [name, await counts(account, values)]);
  return Object.fromEntries(await Promise.all(entries));
}

const FIRST = { active: 2, failed: 1, production: 1, none: 3, 'active in production': 1, waiting: 1 };

it('counts new installs by status, environment and waiting updates', async () => {
  expect(await everyCount(one)).toEqual(FIRST);
  expect(await miscountedAccounts(database.reader)).toEqual([]);
});

it.each<[string, (queries: Queries) => Promise<unknown>, Partial<typeof FIRST>]>([
  [
    'a status',
    (queries) =>
      queries
        .updateTable('installs')
        .set({ status: 'active' })
        .where('id', '=', installs[3] ?? '')
        .execute(),
    { active: 3, failed: 0 },
  ],
  [
    'an environment',
    (queries) =>
      queries
        .updateTable('installs')
        .set({ environment: null })
        .where('id', '=', installs[0] ?? '')
        .execute(),
    { production: 0, none: 4, 'active in production': 0 },
  ],
  [
    'several installs',
    (queries) =>
      queries.updateTable('installs').set({ status: 'failed' }).where('id', 'in', installs).execute(),
    { active: 0, failed: 4, 'active in production': 0 },
  ],
  [
    'a reading',
    (queries) =>
      queries
        .updateTable('wordpress_readings')
        .set({ plugin_updates: 0, theme_updates: 0, core_update: null })
        .where('install_id', '=', installs[1] ?? '')
        .execute(),
    { waiting: 0 },
  ],
  [
    'a deletion',
    async (queries) => {
      await queries
        .deleteFrom('installs')
        .where('id', '=', installs[1] ?? '')
        .execute();
      await queries.updateTable('accounts').set({ install_count: 3 }).where('id', '=', one).execute();
    },
    { active: 1, none: 2, waiting: 0 },
  ],
])('follows %s', async (_what, work, changed) => {
  await change(work);
  expect(await everyCount(one)).toEqual({ ...FIRST, ...changed });
  expect(await everyCount(other)).toEqual(FIRST);
  expect(await miscountedAccounts(database.reader)).toEqual([]);
});

it('follows installs to another account', async () => {
  await change(async (queries) => {
    await queries.updateTable('installs').set({ account_id: other }).where('id', 'in', installs).execute();
    await queries.updateTable('accounts').set({ install_count: 0 }).where('id', '=', one).execute();
    await queries.updateTable('accounts').set({ install_count: 8 }).where('id', '=', other).execute();
  });
  expect(await everyCount(one)).toEqual(Object.fromEntries(Object.keys(FIRST).map((name) => [name, 0])));
  expect(await everyCount(other)).toEqual(
    Object.fromEntries(Object.entries(FIRST).map(([name, count]) => [name, count * 2])),
  );
  expect(await miscountedAccounts(database.reader)).toEqual([]);
});

it.each<[string, (queries: Queries) => Promise<unknown>]>([
  [
    'a count of installs',
    (queries) =>
      queries
        .updateTable('install_counts')
        .set({ installs: 9 })
        .where('account_id', '=', one)
        .where('status', '=', 'active')
        .execute(),
  ],
  [
    'a missing row',
    (queries) => queries.deleteFrom('install_counts').where('account_id', '=', one).execute(),
  ],
  [
    'the counts of the account',
    (queries) =>
      queries
        .updateTable('accounts')
        .set({ install_count: 7, site_count: 2 })
        .where('id', '=', one)
        .execute(),
  ],
  [
    'waiting updates',
    (queries) =>
      queries
        .updateTable('installs')
        .set({ waiting_updates: 5 })
        .where('id', '=', installs[0] ?? '')
        .execute(),
  ],
])('finds and repairs %s', async (_what, damage) => {
  await change(damage);
  expect(await miscountedAccounts(database.reader)).toEqual([one]);
  await recountAccount(database, one);
  expect(await miscountedAccounts(database.reader)).toEqual([]);
  expect(await everyCount(one)).toEqual(FIRST);
  expect(await counts(one, {})).toBe(4);
});

it('never lets two transactions of an account wait for each other', async () => {
  let tries = 0;
  const turn = (statuses: readonly (readonly [string | undefined, 'active' | 'pending' | 'failed'])[]) =>
    change(async (queries) => {
      tries += 1;
      for (const [id = '', status] of statuses)
        await queries.updateTable('installs').set({ status }).where('id', '=', id).execute();
    });
  const [first, second, third, fourth] = installs;
  await Promise.all([
    turn([
      [first, 'pending'],
      [second, 'failed'],
    ]),
    turn([
      [fourth, 'active'],
      [third, 'failed'],
    ]),
  ]);
  // A deadlock would have been tried again.
  expect(tries).toBe(2);
  expect(await miscountedAccounts(database.reader)).toEqual([]);
});
