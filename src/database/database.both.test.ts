import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTestDatabase, silent } from '../../test/database.ts';
import { allDone } from '../lib/concurrency.ts';
import type { Transaction } from './database.ts';
import { migrate, pendingMigrations } from './migrate.ts';
import { openDatabase } from './open.ts';
import { uniqueViolation } from './unique-violation.ts';

let database: Awaited<ReturnType<typeof openTestDatabase>>;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.remove());

const now = '2026-01-02T03:04:05.678Z';

function addAccount(tx: Transaction, id: string, name = 'An account') {
  return tx.queries.insertInto('accounts').values({ id, name, created_at: now }).execute();
}

/** Those of these accounts that exist, in the order of their creation. */
async function present(...ids: string[]): Promise<string[]> {
  const rows = await database.reader
    .selectFrom('accounts')
    .select('id')
    .where('id', 'in', ids)
    .orderBy('seq')
    .execute();
  return rows.map(({ id }) => id);
}

describe('the database', () => {
  it('migrates once; a second run does nothing', async () => {
    expect(await pendingMigrations(database)).toEqual([]);
    expect((await migrate(database)).applied).toEqual([]);
  });

  it('refuses statements of a transaction that has ended, because they would run in that of another', async () => {
    const [committed, late] = [crypto.randomUUID(), crypto.randomUUID()];
    const kept: Transaction[] = [];
    await database
      .write(async (tx) => {
        kept.push(tx);
        throw new Error('given up');
      })
      .catch(() => {});
    await database.write(async (tx) => {
      kept.push(tx);
      await addAccount(tx, committed);
    });
    const readers = await database.snapshot(async (reader) => [reader]);
    const attempts: Promise<unknown>[] = [];
    await database
      .write(async (tx) => {
        await addAccount(tx, crypto.randomUUID());
        for (const ended of kept) attempts.push(addAccount(ended, late));
        for (const reader of readers) attempts.push(reader.selectFrom('accounts').select('id').execute());
        await Promise.allSettled(attempts);
      })
      .catch(() => {});
    for (const attempt of attempts) await expect(attempt).rejects.toThrow('its transaction has ended');
    expect(
      await database.reader.selectFrom('accounts').select('id').where('id', '=', late).execute(),
    ).toEqual([]);
  });

  it('commits the last statements of a transaction together, and refuses later ones', async () => {
    const [first, last, late] = [crypto.randomUUID(), crypto.randomUUID(), crypto.randomUUID()];
    const effects: string[] = [];
    const lateAttempts: Promise<unknown>[] = [];
    const result = await database.write(async (tx) => {
      tx.afterCommit(() => effects.push('committed'));
      await addAccount(tx, first);
      await tx.commitWith(() => [addAccount(tx, last)]);
      lateAttempts.push(addAccount(tx, late));
      await Promise.allSettled(lateAttempts);
      return 'done';
    });
    expect([result, effects]).toEqual(['done', ['committed']]);
    await expect(lateAttempts[0]).rejects.toThrow('its transaction has ended');
    expect(await present(first, last, late)).toEqual([first, last]);
  });

  it('commits nothing if one of the last statements fails, and reports the first failure', async () => {
    const [taken, first, last] = [crypto.randomUUID(), crypto.randomUUID(), crypto.randomUUID()];
    await database.write((tx) => addAccount(tx, taken));
    const effects: string[] = [];
    const error: unknown = await database
      .write(async (tx) => {
        tx.afterCommit(() => effects.push('committed'));
        await addAccount(tx, first);
        await tx.commitWith(() => [addAccount(tx, taken), addAccount(tx, last)]);
      })
      .catch((failure: unknown) => failure);
    expect(uniqueViolation(error)).toBe('accounts.id');
    expect([await present(taken, first, last), effects]).toEqual([[taken], []]);
  });

  it('commits nothing if one of the last statements fails before it is sent', async () => {
    const [first, last] = [crypto.randomUUID(), crypto.randomUUID()];
    const failed = database.write((tx) =>
      tx.commitWith(() => [
        addAccount(tx, first),
        Promise.reject(new Error('never sent')),
        addAccount(tx, last),
      ]),
    );
    await expect(failed).rejects.toThrow('never sent');
    expect(await present(first, last)).toEqual([]);
  });

  it('returns times as stored, booleans as booleans, JSON parsed', async () => {
    const account = crypto.randomUUID();
    const user = crypto.randomUUID();
    await database.write(async (tx) => {
      await addAccount(tx, account);
      await tx.queries
        .insertInto('users')
        .values({
          id: user,
          email: 'A@x.example',
          email_key: `${user}@x.example`,
          first_name: 'A',
          last_name: 'B',
          phone: null,
          password_hash: null,
          created_at: now,
        })
        .execute();
      await tx.queries
        .insertInto('memberships')
        .values({
          account_id: account,
          user_id: user,
          role: 'full',
          billing: true,
          invite_accepted: false,
          created_at: now,
        })
        .execute();
      await tx.queries
        .insertInto('jobs')
        .values({
          id: user,
          kind: 'x',
          lane: null,
          payload: JSON.stringify({ list: [1, 'two'] }),
          max_attempts: 1,
          run_at: now,
          lease_until: null,
          worker_id: null,
          error: null,
          request_id: null,
          created_at: now,
          started_at: null,
          finished_at: null,
        })
        .execute();
    });
    const member = await database.reader
      .selectFrom('memberships')
      .select(['billing', 'invite_accepted', 'created_at', 'seq'])
      .where('billing', '=', true)
      .executeTakeFirstOrThrow();
    expect(member).toMatchObject({ billing: true, invite_accepted: false, created_at: now });
    expect(typeof member.seq).toBe('number');
    const job = await database.reader.selectFrom('jobs').select('payload').executeTakeFirstOrThrow();
    expect(job.payload).toEqual({ list: [1, 'two'] });
  });

  it('prepared queries take their parameters by name', async () => {
    const id = crypto.randomUUID();
    await database.write((tx) => addAccount(tx, id, 'Prepared'));
    const find = database.prepare<{ name: string; id: string }, { name: string }>(
      (queries, parameter) =>
        queries
          .selectFrom('accounts')
          .select('name')
          .where('id', '=', parameter('id'))
          .where('name', '=', parameter('name')),
      { accounts: ['id', 'id'] },
    );
    expect(await find({ name: 'Prepared', id })).toEqual([{ name: 'Prepared' }]);
    expect(await find({ name: 'Other', id })).toEqual([]);
  });

  it('a prepared query sees later writes of this connection and others', async () => {
    const id = crypto.randomUUID();
    const find = database.prepare<{ id: string }, { name: string }>(
      (queries, parameter) => queries.selectFrom('accounts').select('name').where('id', '=', parameter('id')),
      { accounts: ['id', 'id'] },
    );
    const other = openDatabase(database.place.settings, silent);
    expect(await find({ id })).toEqual([]);
    await database.write((tx) => addAccount(tx, id, 'One'));
    expect(await find({ id })).toEqual([{ name: 'One' }]);
    expect(await find({ id })).toEqual([{ name: 'One' }]);
    await other.write(({ queries }) =>
      queries.updateTable('accounts').set({ name: 'Two' }).where('id', '=', id).execute(),
    );
    expect(await find({ id })).toEqual([{ name: 'Two' }]);
    await other.close();
  });

  it('prepares no query that reads a table which its rows do not name', () => {
    expect(() =>
      database.prepare<{ id: string }, { name: string }>(
        (queries, parameter) =>
          queries
            .selectFrom('sites as site')
            .innerJoin('accounts as account', 'account.id', 'site.account_id')
            .select('account.name')
            .where('site.id', '=', parameter('id')),
        { sites: ['id', 'id'] },
      ),
    ).toThrow('"accounts"');
  });

  it('statements that are started together run in order, and the first failure is reported', async () => {
    const [id, other, site] = [crypto.randomUUID(), crypto.randomUUID(), crypto.randomUUID()];
    const addSite = ({ queries }: Transaction) =>
      queries
        .insertInto('sites')
        .values({ id: site, account_id: id, name: 'Site', created_at: now })
        .execute();
    await database.write((tx) => allDone([addAccount(tx, id), addSite(tx)]));
    const error: unknown = await database
      .write((tx) => allDone([addAccount(tx, id), addSite(tx), addAccount(tx, other)]))
      .catch((failure: unknown) => failure);
    expect(uniqueViolation(error)).toBe('accounts.id');
    const found = database.reader.selectFrom('accounts').select('id').where('id', 'in', [id, other]);
    expect(await found.execute()).toEqual([{ id }]);
  });

  it('a transaction that throws is rolled back, and others of the same turn are kept', async () => {
    const ids = [crypto.randomUUID(), crypto.randomUUID(), crypto.randomUUID()] as const;
    const effects: string[] = [];
    const outcomes = await Promise.allSettled(
      ids.map((id, index) =>
        database.write(async (tx) => {
          await addAccount(tx, id);
          tx.afterCommit(() => effects.push(id));
          if (index === 1) throw new Error('changed my mind');
        }),
      ),
    );
    expect(outcomes.map((outcome) => outcome.status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    const found = await database.reader
      .selectFrom('accounts')
      .select('id')
      .where('id', 'in', [...ids])
      .orderBy('seq')
      .execute();
    expect(found.map((row) => row.id).sort()).toEqual([ids[0], ids[2]].sort());
    expect(effects.sort()).toEqual([ids[0], ids[2]].sort());
  });

  it('names the violated unique constraint identically on both databases', async () => {
    const id = crypto.randomUUID();
    await database.write((tx) => addAccount(tx, id));
    const error = await database.write((tx) => addAccount(tx, id)).catch((caught: unknown) => caught);
    expect(uniqueViolation(error)).toBe('accounts.id');
    expect(uniqueViolation(new Error('other'))).toBeUndefined();
  });

  it('runs many transactions concurrently', async () => {
    const ids = Array.from({ length: 200 }, () => crypto.randomUUID());
    await Promise.all(ids.map((id) => database.write((tx) => addAccount(tx, id))));
    const { count } = await database.reader
      .selectFrom('accounts')
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .where('id', 'in', ids)
      .executeTakeFirstOrThrow();
    expect(count).toBe(200);
  });
});
