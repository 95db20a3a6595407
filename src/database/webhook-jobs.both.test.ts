import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { openTestDatabase } from '../../test/database.ts';
import { webhookJobs } from './migrations/0057-webhook-jobs.ts';
import { POSTGRES_TYPES, SQLITE_TYPES } from './migrations/column-types.ts';

it('gives the deliveries that an earlier version left waiting a job for each lane', async () => {
  const database = await openTestDatabase();
  try {
    const [at, retry] = ['2026-01-01T00:00:00.000Z', '2026-01-01T04:00:00.000Z'];
    const [account, webhook, install] = [crypto.randomUUID(), crypto.randomUUID(), crypto.randomUUID()];
    const jobs = await database.write(async ({ queries }) => {
      const isSqlite = database.dialect === 'sqlite';
      // As the earlier version has it.
      const uuid = sql.raw(isSqlite ? 'text' : 'uuid');
      await sql`alter table webhooks add column lease_holder ${uuid}`.execute(queries);
      await sql`alter table webhooks add column lease_until ${sql.raw(isSqlite ? 'text' : 'timestamptz(3)')}`.execute(
        queries,
      );
      await queries.insertInto('accounts').values({ id: account, name: 'One', created_at: at }).execute();
      await queries
        .insertInto('webhooks')
        .values({
          ...{ id: webhook, account_id: account, url: 'https://hooks.example/', description: '' },
          ...{ event_types: null, install_ids: null, sealed_secret: '', created_at: at, updated_at: at },
        })
        .execute();
      await sql`update webhooks set lease_holder = ${crypto.randomUUID()}, lease_until = ${at}`.execute(
        queries,
      );
      const { seq: event_seq } = await queries
        .insertInto('events')
        .values({
          ...{ id: crypto.randomUUID(), type: 'site.created', account_id: account, install_id: null },
          ...{ subject_id: null, data: '{}', created_at: at },
        })
        .returning('seq')
        .executeTakeFirstOrThrow();
      const delivery = (lane: string, more: { state?: 'succeeded'; next_attempt_at?: string } = {}) => ({
        ...{ id: crypto.randomUUID(), webhook_id: webhook, event_seq, lane, created_at: at },
        ...more,
      });
      await queries
        .insertInto('webhook_deliveries')
        .values(
          [
            delivery(install, { next_attempt_at: retry }),
            delivery(install),
            delivery(account),
            delivery(account),
            delivery(`once:${webhook}`, { state: 'succeeded' }),
          ].map((row) => ({ state: 'pending' as const, next_attempt_at: null, ...row })),
        )
        .execute();
      const types = isSqlite ? SQLITE_TYPES : POSTGRES_TYPES;
      for (const statement of webhookJobs(types, database.dialect)) await sql.raw(statement).execute(queries);
      return queries.selectFrom('jobs').selectAll().orderBy('run_at').execute();
    });
    const job = (lane: string, run_at: string) =>
      expect.objectContaining({
        ...{ kind: 'deliver_webhook', lane: `deliver_webhook ${webhook} ${lane}`, state: 'queued' },
        ...{ payload: { webhook_id: webhook, lane, account_id: account }, share: account, run_at },
        id: expect.stringMatching(
          /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$|^[0-9a-f-]{36}$/,
        ),
      });
    expect(jobs).toEqual([job(account, at), job(install, retry)]);
    expect(new Set(jobs.map(({ id }) => id)).size).toBe(2);
  } finally {
    await database.remove();
  }
});
