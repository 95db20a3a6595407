import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import Type from 'typebox';
import type { Database } from '../src/database/database.ts';
import { migrate } from '../src/database/migrate.ts';
import { openDatabase } from '../src/database/open.ts';
import { defineJob, type JobKind } from '../src/jobs/job.ts';
import { createQueue } from '../src/jobs/queue.ts';
import { createWorker } from '../src/jobs/worker.ts';
import { systemClock } from '../src/lib/clock.ts';
import { systemRandomness } from '../src/lib/ids.ts';
import { createReport } from './measure/report.ts';
import { shownMs } from './measure/units.ts';

/**
 * `npm run bench -- queue`: the overhead of the job queue, with jobs that do nothing. Runs on SQLite in a temporary folder and, if
 * HOMEPORT_DATABASE_URL is set, on that PostgreSQL too. Its schema is migrated, and the bench's jobs are deleted afterwards. One
 * process both enqueues and works.
 */
const LATENCY_JOBS = 500;
const THROUGHPUT_JOBS = 3_000;
const LANES = 100;
const OTHERS_JOBS = 500;

const report = createReport('queue');
const log = pino({ level: 'error' }, pino.destination(2));
const Numbered = Type.Object({ n: Type.Integer() });

/** A separate kind, so that the bench neither takes nor leaves other jobs. */
function benchKind(run: JobKind<typeof Numbered>['run']): JobKind<typeof Numbered> {
  return defineJob({
    name: `bench_${process.pid}`,
    payload: Numbered,
    maxAttempts: 1,
    timeoutMs: 60_000,
    run,
  });
}

function work(database: Database, kind: JobKind<typeof Numbered>, concurrency: number) {
  const queue = createQueue(database, systemClock, systemRandomness);
  const parts = { database, queue, kinds: [kind], clock: systemClock, random: systemRandomness, log };
  return { queue, worker: createWorker({ ...parts, concurrency }) };
}

/** Milliseconds from requesting a job (before its transaction begins) to the start of its work, one job after another. */
async function latencies(database: Database): Promise<number[]> {
  const found: number[] = [];
  let started = Promise.withResolvers<void>();
  const kind = benchKind(async () => started.resolve());
  const { queue, worker } = work(database, kind, 4);
  worker.start();
  await worker.idle();
  for (let n = 0; n < LATENCY_JOBS; n++) {
    started = Promise.withResolvers<void>();
    const asked = performance.now();
    await database.write((transaction) =>
      queue.enqueue(transaction, kind, { payload: { n }, lane: `bench ${n}` }),
    );
    await started.promise;
    found.push(performance.now() - asked);
    await worker.idle();
  }
  await worker.stop(1_000);
  return found.sort((a, b) => a - b);
}

/** Jobs per second from a prefilled queue: each is claimed, begun and completed durably. */
async function jobsPerSecond(database: Database, concurrency: number): Promise<number> {
  const kind = benchKind(async () => {});
  const { queue, worker } = work(database, kind, concurrency);
  await database.write(async (transaction) => {
    for (let n = 0; n < THROUGHPUT_JOBS; n++) {
      await queue.enqueue(transaction, kind, { payload: { n }, lane: `bench ${n % LANES}` });
    }
  });
  const began = performance.now();
  worker.start();
  await worker.idle();
  const seconds = (performance.now() - began) / 1_000;
  await worker.stop(1_000);
  return THROUGHPUT_JOBS / seconds;
}

/** The jobs of another account that begin between the enqueueing of a job and its start. The other account has queued 500 before. */
async function jobsBefore(database: Database, concurrency: number): Promise<number> {
  const [busy, other] = [randomUUID(), randomUUID()];
  let before = 0;
  const own = Promise.withResolvers<number>();
  const kind = benchKind(async ({ n }) => {
    if (n < 0) own.resolve(before);
    before++;
    await sleep(5);
  });
  const { queue, worker } = work(database, kind, concurrency);
  const enqueue = (n: number, account: string) =>
    database.write((transaction) =>
      queue.enqueue(transaction, kind, { payload: { n }, lane: `bench ${n}`, account }),
    );
  for (let n = 0; n < OTHERS_JOBS; n++) await enqueue(n, busy);
  worker.start();
  while (before < 50) await sleep(1);
  before = 0;
  await enqueue(-1, other);
  const found = await own.promise;
  await worker.idle();
  await worker.stop(1_000);
  return found;
}

async function measure(name: string, database: Database): Promise<void> {
  await migrate(database);
  try {
    const times = await latencies(database);
    const at = (share: number) => times[Math.floor(times.length * share)] ?? 0;
    report.figure({
      what: `${name}, from enqueue to start, median`,
      value: at(0.5),
      unit: 'ms',
      measured: `99 % within ${shownMs(at(0.99))}`,
    });
    for (const concurrency of [1, 4, 16]) {
      report.figure({
        what: `${name}, ${concurrency} at a time`,
        value: await jobsPerSecond(database, concurrency),
        unit: '/s',
      });
    }
    report.figure({
      what: `${name}, jobs of another account before the first own, with ${OTHERS_JOBS} queued`,
      value: await jobsBefore(database, 4),
      unit: 'count',
      goal: { atMost: 25 },
    });
  } finally {
    await database.write(({ queries }) =>
      queries.deleteFrom('jobs').where('kind', '=', `bench_${process.pid}`).execute(),
    );
    await database.close();
  }
}

const folder = mkdtempSync(join(tmpdir(), 'homeport-bench-'));
try {
  report.part('The job queue with jobs that do nothing');
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
