import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTestDatabase, silent } from '../../test/database.ts';
import type { Database, PreparedQuery, Queries } from './database.ts';
import { openDatabase } from './open.ts';

let database: Awaited<ReturnType<typeof openTestDatabase>>;
let other: Database;
let account: string;
let find: PreparedQuery<{ id: string }, { name: string }>;

beforeAll(async () => {
  database = await openTestDatabase();
  other = openDatabase(database.place.settings, silent);
  account = crypto.randomUUID();
  await database.write(({ queries }) =>
    queries
      .insertInto('accounts')
      .values({ id: account, name: 'Account', created_at: '2026-01-01T00:00:00.000Z' })
      .execute(),
  );
  find = prepareFind();
});
afterAll(async () => {
  await other?.close();
  await database?.remove();
});

function prepareFind(): typeof find {
  return database.prepare(
    (queries, parameter) => queries.selectFrom('sites').select('name').where('id', '=', parameter('id')),
    { sites: ['id', 'id'] },
  );
}

async function addSite(name = 'One'): Promise<string> {
  const id = crypto.randomUUID();
  await database.write(({ queries }) =>
    queries
      .insertInto('sites')
      .values({ id, account_id: account, name, created_at: '2026-01-01T00:00:00.000Z' })
      .execute(),
  );
  return id;
}

const rename = (queries: Queries, id: string, name: string) =>
  queries.updateTable('sites').set({ name }).where('id', '=', id).execute();

describe('a kept answer', () => {
  it('is the same object until its row changes, whatever else changes', async () => {
    const [id, neighbour] = [await addSite(), await addSite()];
    const [site] = await find({ id });
    await database.write(({ queries }) => rename(queries, neighbour, 'Two'));
    expect((await find({ id }))[0]).toBe(site);
    expect(await find({ id: neighbour })).toEqual([{ name: 'Two' }]);
    await database.write(({ queries }) => rename(queries, id, 'Three'));
    expect(await find({ id })).toEqual([{ name: 'Three' }]);
  });

  it('of an absent row is dropped when the row appears', async () => {
    const id = crypto.randomUUID();
    expect(await find({ id })).toEqual([]);
    const present = await addSite();
    await database.write(({ queries }) =>
      queries.updateTable('sites').set({ id }).where('id', '=', present).execute(),
    );
    expect(await find({ id })).toEqual([{ name: 'One' }]);
    expect(await find({ id: present })).toEqual([]);
  });

  it('read during a transaction is dropped at its commit, and not before', async () => {
    const id = await addSite();
    await database.write(async ({ queries }) => {
      await rename(queries, id, 'Later');
      expect(await find({ id })).toEqual([{ name: 'One' }]);
      await nextTurn();
      expect(await find({ id })).toEqual([{ name: 'One' }]);
    });
    expect(await find({ id })).toEqual([{ name: 'Later' }]);
  });

  it('is dropped by a transaction that another process preceded', async () => {
    const [id, neighbour] = [await addSite(), await addSite()];
    await find({ id });
    await other.write(({ queries }) => rename(queries, neighbour, 'Theirs'));
    await database.write(async ({ queries }) => {
      await rename(queries, id, 'Ours');
      // Notices the other process's commit, in the middle of this transaction.
      await nextTurn();
      expect(await find({ id: neighbour })).toEqual([{ name: 'Theirs' }]);
      expect(await find({ id })).toEqual([{ name: 'One' }]);
    });
    expect(await find({ id })).toEqual([{ name: 'Ours' }]);
  });

  it('of a query that was prepared in a transaction that is rolled back follows later changes', async () => {
    const id = await addSite();
    let findLater = find;
    await expect(
      database.write(async () => {
        findLater = prepareFind();
        await findLater({ id });
        throw new Error('changed my mind');
      }),
    ).rejects.toThrow('changed my mind');
    expect(await findLater({ id })).toEqual([{ name: 'One' }]);
    await database.write(({ queries }) => rename(queries, id, 'Two'));
    expect(await findLater({ id })).toEqual([{ name: 'Two' }]);
  });

  it('is dropped by a change of more rows than are remembered', async () => {
    const id = await addSite();
    await database.write(async ({ queries }) => {
      for (let row = 0; row < 10_100; row++) await rename(queries, id, `Name ${row}`);
    });
    expect(await find({ id })).toEqual([{ name: 'Name 10099' }]);
    // And only by that.
    const [site] = await find({ id });
    await addSite();
    expect((await find({ id }))[0]).toBe(site);
  });
});
