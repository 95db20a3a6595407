import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import type { Database } from '../src/database/database.ts';
import { migrate } from '../src/database/migrate.ts';
import { openDatabase } from '../src/database/open.ts';
import { claimDue } from '../src/jobs/claim.ts';
import { systemClock, timestamp } from '../src/lib/clock.ts';
import { createReport } from './measure/report.ts';
import { shownRate } from './measure/units.ts';

/**
 * `npm run bench -- claims`: the cost of claiming one job, for different queues. Runs on SQLite in a temporary folder and, if
 * HOMEPORT_DATABASE_URL is set, on that PostgreSQL too. The bench deletes all jobs there.
 */
const CLAIMS = 300;
const BACKLOG = 100_000;

const A = crypto.randomUUID();
const B = crypto.randomUUID();
const report = createReport('claims');
const log = pino({ level: 'error' }, pino.destination(2));

interface QueuedJob {
  share: string;
  lane: string | null;
  behind?: boolean;
}

/** Each queue holds enough claimable jobs for the bench. */
const QUEUES: Record<string, QueuedJob[]> = {
  'few jobs': many(CLAIMS, () => ({ share: B, lane: null })),
  'and 100,000 of one account, each in its own lane': [
    ...many(BACKLOG, (n) => ({ share: A, lane: `a ${n}` })),
    ...many(CLAIMS, () => ({ share: B, lane: null })),
  ],
  'and 100,000 of one account in one lane': [
    ...many(BACKLOG, (n) => ({ share: A, lane: 'a', behind: n > 0 })),
    ...many(CLAIMS, () => ({ share: B, lane: null })),
  ],
  '100 jobs each of 1,000 accounts': many(BACKLOG, (n) => ({ share: `account ${n % 1_000}`, lane: null })),
};

function many(count: number, jobOf: (n: number) => QueuedJob): QueuedJob[] {
  return Array.from({ length: count }, (_, n) => jobOf(n));
}

async function claimsPerSecond(database: Database, queue: QueuedJob[]): Promise<number> {
  await database.write(({ queries }) => queries.deleteFrom('jobs').execute());
  const now = timestamp(systemClock);
  for (let at = 0; at < queue.length; at += 500) {
    const rows = queue.slice(at, at + 500).map((job) => ({
      id: crypto.randomUUID(),
      kind: 'bench',
      payload: '{}',
      max_attempts: 1,
      run_at: now,
      created_at: now,
      request_id: null,
      lease_until: null,
      worker_id: null,
      error: null,
      started_at: null,
      finished_at: null,
      ...job,
    }));
    await database.write(({ queries }) => queries.insertInto('jobs').values(rows).execute());
  }
  const workerId = crypto.randomUUID();
  let cursor = '';
  const began = performance.now();
  for (let n = 0; n < CLAIMS; n++) {
    const taken = await database.write((transaction) =>
      claimDue(transaction, {
        workerId,
        kinds: ['bench'],
        class: 'short',
        now: timestamp(systemClock),
        leaseUntil: timestamp(systemClock, 60_000),
        limit: 1,
        limitOfOneShare: 4,
        running: new Map(),
        cursor,
      }),
    );
    if (taken.jobs.length !== 1) throw new Error('a claim found nothing');
    cursor = taken.cursor;
  }
  return CLAIMS / ((performance.now() - began) / 1_000);
}

async function measure(name: string, database: Database): Promise<void> {
  await migrate(database);
  try {
    let first = 0;
    for (const [what, queue] of Object.entries(QUEUES)) {
      const rate = await claimsPerSecond(database, queue);
      first ||= rate;
      report.figure({
        what: `${name}, ${what}`,
        value: rate / first,
        unit: 'ratio',
        measured: shownRate(rate),
      });
    }
    await database.write(({ queries }) => queries.deleteFrom('jobs').execute());
  } finally {
    await database.close();
  }
}

const folder = mkdtempSync(join(tmpdir(), 'homeport-bench-'));
try {
  report.part('Claims beside those of the first queue');
  await measure('SQLite', openDatabase({ databaseUrl: null, dataDir: folder }, log));
  const databaseUrl = process.env.HOMEPORT_DATABASE_URL;
  if (databaseUrl !== undefined) {
    await measure('PostgreSQL', openDatabase({ databaseUrl, dataDir: folder }, log));
  }
  report.end();
  report.finish();
} finally {
  rmSync(folder, { recursive: true, force: true });
}
