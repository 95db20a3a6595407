import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { TestHomeport } from './homeport.ts';

const PATIENCE_MS = 30_000;

/**
 * Runs requests so that their transactions overlap: the jobs table is locked, so each transaction that enqueues a job waits until all
 * others have come equally far. PostgreSQL only, because SQLite has one writer and transactions never overlap there.
 */
export async function overlapping<Result>(
  { place }: Pick<TestHomeport, 'place'>,
  requests: (() => Promise<Result>)[],
): Promise<Result[]> {
  const client = new pg.Client(place.settings.databaseUrl ?? '');
  await client.connect();
  try {
    await lockIdleJobs(client);
    const started: Promise<Result>[] = [];
    for (const request of requests) {
      started.push(request());
      await lockWaits(client, started.length);
    }
    await client.query('commit');
    return await Promise.all(started);
  } finally {
    await client.end();
  }
}

/** Begins a transaction that locks the jobs while none is at work: the end of one would wait like a request. */
async function lockIdleJobs(client: pg.Client): Promise<void> {
  const until = performance.now() + PATIENCE_MS;
  for (;;) {
    await client.query('begin');
    await client.query('lock table jobs in exclusive mode');
    const { rows } = await client.query<{ kind: string }>(`select kind from jobs where state = 'running'`);
    if (rows.length === 0) return;
    await client.query('rollback');
    if (performance.now() > until) throw new Error(`jobs are at work: ${JSON.stringify(rows)}`);
    await sleep(5);
  }
}

/** Resolves when that many statements of requests wait for a lock. The worker's statements do not count. */
export async function lockWaits(client: pg.Client, count: number): Promise<void> {
  const until = performance.now() + PATIENCE_MS;
  for (;;) {
    const { rows } = await client.query<{ query: string }>(
      `select query from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock'
         and query not like 'with "due"%' and query not like 'update "jobs" set "lease_until"%'`,
    );
    if (rows.length >= count) return;
    if (performance.now() > until) throw new Error(`only these wait: ${JSON.stringify(rows)}`);
    await sleep(5);
  }
}
