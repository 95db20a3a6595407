import { type Logger, pino } from 'pino';
import Type, { type Static, type TSchema } from 'typebox';
import { vi } from 'vitest';
import type { Database, Transaction } from '../src/database/database.ts';
import { defineJob, type JobKind, type JobType } from '../src/jobs/job.ts';
import { createQueue, type NewJob, type Queue } from '../src/jobs/queue.ts';
import { createWorker, type Worker, type WorkerParts } from '../src/jobs/worker.ts';
import { type Randomness, systemRandomness } from '../src/lib/ids.ts';
import { openTestDatabase } from './database.ts';
import { type ManualClock, manualClock } from './manual-clock.ts';

/** Resolves as soon as `check` does not throw; generous, for busy machines. */
export function until(check: () => void | Promise<void>): Promise<void> {
  return vi.waitFor(check, { timeout: 20_000, interval: 10 });
}

/** A queue on a separate database, with a manual clock and fixed jitter. */
export interface JobsFixture {
  database: Database;
  clock: ManualClock;
  /** `fraction()` is 0.5, so delays are the nominal ones. */
  random: Randomness;
  queue: Queue;
  log: Logger;
  /** The log since the last `clear`. */
  lines: Record<string, unknown>[];
  /** A started worker; `clear` stops it. */
  worker(kinds: readonly JobKind[], options?: Partial<WorkerParts>): Worker;
  /** Enqueues one job in a separate transaction. */
  ask<Schema extends TSchema>(
    kind: JobType<Schema>,
    payload: Static<Schema>,
    options?: Partial<NewJob<never>>,
  ): Promise<string>;
  /** The whole row of a job. */
  row(id: string): Promise<JobRow>;
  /** The effects (`addEffect`) and how often each happened. */
  effects(): Promise<Record<string, number>>;
  /** The messages among `lines`. */
  messages(): unknown[];
  /** Stops the workers and deletes jobs, slots and effects. */
  clear(): Promise<void>;
  remove(): Promise<void>;
}

type JobRow = NonNullable<Awaited<ReturnType<typeof findRow>>>;

export async function openJobsFixture(): Promise<JobsFixture> {
  const database = await openTestDatabase();
  const clock = manualClock();
  const random: Randomness = { ...systemRandomness, fraction: () => 0.5 };
  const queue = createQueue(database, clock, random);
  const lines: Record<string, unknown>[] = [];
  const log = pino({ level: 'debug', base: null }, { write: (line) => lines.push(JSON.parse(line)) });
  let workers: Worker[] = [];

  async function clear(): Promise<void> {
    await Promise.all(workers.map((worker) => worker.stop(0)));
    workers = [];
    await database.write(async ({ queries }) => {
      await queries.deleteFrom('jobs').execute();
      await queries.deleteFrom('workers').execute();
      await queries.deleteFrom('schedule_runs').execute();
      await queries.deleteFrom('rate_windows').execute();
    });
    lines.length = 0;
  }

  return {
    database,
    clock,
    random,
    queue,
    log,
    lines,
    clear,
    async effects() {
      const rows = await database.reader.selectFrom('rate_windows').select(['key', 'taken']).execute();
      return Object.fromEntries(rows.map((row) => [row.key, row.taken]));
    },
    messages: () => lines.map((line) => line.msg),
    worker(kinds, options) {
      const parts = { database, queue, kinds, clock, random, log, concurrency: 4, abortGraceMs: 50 };
      const worker = createWorker({ ...parts, ...options });
      workers.push(worker);
      worker.start();
      return worker;
    },
    ask: (kind, payload, options) =>
      database.write((transaction) => queue.enqueue(transaction, kind, { lane: null, ...options, payload })),
    async row(id) {
      const row = await findRow(database, id);
      if (row === undefined) throw new Error(`there is no job ${id}`);
      return row;
    },
    async remove() {
      await clear();
      await database.remove();
    },
  };
}

function findRow(database: Database, id: string) {
  return database.reader.selectFrom('jobs').selectAll().where('id', '=', id).executeTakeFirst();
}

const Numbered = Type.Object({ n: Type.Integer() });

/** A job kind whose work is `run`, with default options. */
export function kindOf(
  run: JobKind<typeof Numbered>['run'],
  more: Partial<JobKind<typeof Numbered>> = {},
): JobKind<typeof Numbered> {
  return defineJob({ name: 'test', payload: Numbered, maxAttempts: 5, timeoutMs: 30_000, ...more, run });
}

/** A database effect that shows repetitions: a growing number in a table made for another purpose. */
export async function addEffect(transaction: Transaction, key: string): Promise<void> {
  await transaction.queries
    .insertInto('rate_windows')
    .values({ key, window_start: '2026-01-01T00:00:00.000Z', taken: 1 })
    .onConflict((conflict) =>
      conflict.column('key').doUpdateSet((eb) => ({ taken: eb('rate_windows.taken', '+', 1) })),
    )
    .execute();
}

/** A gate at which a job waits until the test opens it. */
export function gate(): { opened: Promise<void>; open(): void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { opened: promise, open: resolve };
}

/** For a timer that is irrelevant to the test. */
export const NEVER = 600_000;
