import { PostgresDialect, sql } from 'kysely';
import pg from 'pg';
import { afterAll, beforeAll, expect, type Mock, test, vi } from 'vitest';
import { openTestDatabase, silent } from '../../test/database.ts';
import { allDone } from '../lib/concurrency.ts';
import type { Transaction } from './database.ts';
import { openPostgres } from './postgres.ts';
import { createPostgresTransactions, type PostgresTransactions } from './postgres-transactions.ts';
import { uniqueViolation } from './unique-violation.ts';

let database: Awaited<ReturnType<typeof openTestDatabase>>;

beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database?.remove());

const add = ({ queries }: Pick<Transaction, 'queries'>, id: string) =>
  queries
    .insertInto('accounts')
    .values({ id, name: 'An account', created_at: new Date().toISOString() })
    .execute();

/** Transactions on one connection, whose writes are counted. */
async function onCountedConnection(
  work: (transactions: PostgresTransactions, written: Mock) => Promise<void>,
): Promise<void> {
  const pool = new pg.Pool({
    connectionString: database.place.settings.databaseUrl ?? '',
    pipeline: true,
    max: 1,
  });
  try {
    const client = await pool.connect();
    const written = vi.spyOn(client.connection.stream, '_writev');
    client.release();
    await work(createPostgresTransactions(pool, new PostgresDialect({ pool })), written);
  } finally {
    await pool.end();
  }
}

test('a transaction begins in the write of its first statements', () =>
  onCountedConnection(async (transactions, written) => {
    const rows = await transactions.run('begin', async (queries) => {
      const [one, two] = await allDone([
        sql<{ n: number }>`select 1 as n`.execute(queries),
        sql<{ n: number }>`select 2 as n`.execute(queries),
      ]);
      expect(written).toHaveBeenCalledTimes(1);
      return [one.rows, two.rows];
    });
    expect(rows).toEqual([[{ n: 1 }], [{ n: 2 }]]);
    expect(written).toHaveBeenCalledTimes(2);
  }));

test('a transaction is committed in the write of its last statements', () =>
  onCountedConnection(async (transactions, written) => {
    await transactions.run('begin', async (queries, commitWith) => {
      await sql`select 1`.execute(queries);
      await commitWith(() => [sql`select 2`.execute(queries), sql`select 3`.execute(queries)]);
    });
    expect(written).toHaveBeenCalledTimes(2);
  }));

test('the connection can be used after a transaction whose last statements fail', () =>
  onCountedConnection(async (transactions) => {
    const failed = transactions.run('begin', (queries, commitWith) =>
      commitWith(() => [sql`select 1 / 0`.execute(queries), sql`select 2`.execute(queries)]),
    );
    await expect(failed).rejects.toThrow('division by zero');
    const { rows } = await transactions.run('begin', (queries) =>
      sql`select pg_current_xact_id_if_assigned() as id, 3 as n`.execute(queries),
    );
    expect(rows).toEqual([{ id: null, n: 3 }]);
  }));

test('a transaction that ignores the failure of a statement is refused with it', async () => {
  const [id, later] = [crypto.randomUUID(), crypto.randomUUID()];
  await database.write((tx) => add(tx, id));
  const error: unknown = await database
    .write(async (tx) => {
      await add(tx, later);
      await add(tx, id).catch(() => {});
    })
    .catch((failure: unknown) => failure);
  expect(uniqueViolation(error)).toBe('accounts.id');
  expect(await database.reader.selectFrom('accounts').select('id').where('id', '=', later).execute()).toEqual(
    [],
  );
});

test('a transaction fails with the error of its first statement that failed, whatever the later ones say', async () => {
  const neverParsed = ({ queries }: Transaction) => sql`select 'never parsed'`.execute(queries);
  const error: unknown = await database
    .write(async (tx) => {
      const failed = sql`select 1 / 0`.execute(tx.queries);
      // The second use relies on the name of the first, which PostgreSQL refused: another error than that of an aborted transaction.
      const [once, again] = [neverParsed(tx), neverParsed(tx)];
      await allDone([again, once, failed]);
    })
    .catch((failure: unknown) => failure);
  expect(error).toMatchObject({ message: 'division by zero' });
});

test.each([
  ['the environment', '', '-c search_path=of_operator'],
  ['the address', '-c search_path=of_operator', '-c search_path=of_environment'],
  ['the environment beside a password with a percent sign', '', '-c search_path=of_operator', '100%sure'],
])(
  'options of %s apply, too: with another schema, migrations and requests would use different tables',
  async (_, inAddress, inEnvironment, password = '') => {
    vi.stubEnv('PGOPTIONS', inEnvironment);
    const address = new URL(database.place.settings.databaseUrl ?? '');
    if (password !== '') address.password = password;
    if (inAddress !== '') address.searchParams.set('options', inAddress);
    const opened = openPostgres(address.href, silent);
    try {
      const shown = (query: typeof opened.reader) =>
        sql`select current_setting('search_path') as path, current_setting('random_page_cost') as cost`.execute(
          query,
        );
      const path = 'of_operator';
      expect((await opened.withoutTimeLimit(shown)).rows).toMatchObject([{ path }]);
      expect((await shown(opened.reader)).rows).toEqual([{ path, cost: '1.1' }]);
    } finally {
      vi.unstubAllEnvs();
      await opened.close();
    }
  },
);
