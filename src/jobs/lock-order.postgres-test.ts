import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { kindOf, openJobsFixture, until } from '../../test/jobs.ts';
import { lockOperation } from '../database/lock.ts';
import { failOperation } from './operations-store.ts';

// SQLite has one writer and locks no rows.
test('a request and the worker lock an operation in the same order', async () => {
  const jobs = await openJobsFixture();
  try {
    const { database } = jobs;
    const ended = Promise.withResolvers<void>();
    const calls: string[] = [];
    const kind = kindOf(
      async (_payload, { id }) =>
        async ({ queries }) => {
          calls.push('worker');
          // The transaction has ended the job. Now the request comes between.
          ended.resolve();
          await until(async () => expect(await waiting()).toBe(1));
          await failOperation(queries, id, { code: 'failed', message: 'It failed.' });
        },
      { operation: 'backup.create' },
    );
    const waiting = async () => {
      const { rows } = await sql`select 1 from pg_stat_activity where datname = current_database()
        and wait_event_type = 'Lock' and query like '%for no key update'`.execute(database.reader);
      return rows.length;
    };
    const id = await jobs.ask(kind, { n: 1 }, { account: crypto.randomUUID() });
    const worker = jobs.worker([kind]);
    await ended.promise;
    const seen = await database.write(async (transaction) => {
      calls.push('request');
      await lockOperation(transaction, id);
      return transaction.queries.selectFrom('operations').select('error_message').executeTakeFirst();
    });
    await worker.idle();
    // PostgreSQL would have aborted one of two transactions that wait for each other.
    expect(calls).toEqual(['worker', 'request']);
    expect(seen).toEqual({ error_message: 'It failed.' });
    expect(await jobs.row(id)).toMatchObject({ state: 'succeeded', attempt: 1 });
  } finally {
    await jobs.remove();
  }
});
