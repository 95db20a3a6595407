import { type Expression, type ExpressionBuilder, type SqlBool, sql } from 'kysely';
import Type from 'typebox';
import type { Database, Queries } from '../database/database.ts';
import { deleteInBatches } from '../database/delete-in-batches.ts';
import type { JobState } from '../database/tables/jobs.ts';
import type { Tables } from '../database/tables.ts';
import { type Clock, timestamp } from '../lib/clock.ts';
import { DAY_MS, MINUTE_MS } from '../lib/durations.ts';
import { defineJob, type JobKind } from './job.ts';

const KEEP_FINISHED_MS = 7 * DAY_MS;
/** Failed jobs stay longer, for the diagnosis of failures, and so do jobs that users see as operations. */
const KEEP_LONGER_MS = 30 * DAY_MS;
const KEEP_SLOTS_MS = 30 * DAY_MS;
const KEEP_WORKERS_MS = DAY_MS;

const payload = Type.Object({});

/** A query for lanes. */
export type Lanes = (queries: Queries) => Expression<string>;

/**
 * Deletes old rows of the queue: finished jobs after 7 days (failed ones and operations after 30, except failed ones in
 * lanes of `askedAfter`), slots of schedules after 30 days except each schedule's latest, and workers not seen for a day.
 * Enqueue it in its own lane.
 */
export function createPruneJob({
  database,
  clock,
  askedAfter,
}: {
  database: Database;
  clock: Clock;
  askedAfter: Lanes;
}): JobKind<typeof payload> {
  return defineJob({
    name: 'prune',
    payload,
    maxAttempts: 3,
    timeoutMs: 10 * MINUTE_MS,
    async run(_payload, { signal, log }) {
      const deleted = { jobs: 0, slots: 0, workers: 0 };
      deleted.jobs = await deleteInBatches(database, signal, (queries, limit) =>
        deleteJobs(queries, clock, askedAfter, limit),
      );
      deleted.slots = await deleteInBatches(database, signal, (queries, limit) =>
        deleteSlots(queries, clock, limit),
      );
      deleted.workers = await deleteInBatches(database, signal, (queries, limit) =>
        deleteWorkers(queries, clock, limit),
      );
      log.info(deleted, 'pruned');
    },
  });
}

const failed = sql.lit<JobState>('failed');
/** Matches the condition of the index on finished jobs literally. */
const finished: Expression<SqlBool> = sql`state in ('succeeded', 'failed', 'cancelled')`;

function isOperation(eb: ExpressionBuilder<Tables, 'jobs'>) {
  return eb.exists(
    eb.selectFrom('operations').select('operations.id').whereRef('operations.job_id', '=', 'jobs.id'),
  );
}

/** Deletes jobs, and with them their operations. */
async function deleteJobs(queries: Queries, clock: Clock, askedAfter: Lanes, limit: number): Promise<number> {
  const { numDeletedRows } = await queries
    .deleteFrom('jobs')
    .where('seq', 'in', (of) =>
      of
        .selectFrom('jobs')
        .select('seq')
        .where(finished)
        .where('finished_at', '<', timestamp(clock, -KEEP_FINISHED_MS))
        .where((eb) =>
          eb.or([
            eb('state', '<>', failed).and(eb.not(isOperation(eb))),
            eb('finished_at', '<', timestamp(clock, -KEEP_LONGER_MS)).and(
              eb.or([
                eb('state', '<>', failed),
                eb('lane', 'is', null),
                eb('lane', 'not in', askedAfter(queries)),
              ]),
            ),
          ]),
        )
        .orderBy('finished_at')
        .limit(limit),
    )
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}

async function deleteSlots(queries: Queries, clock: Clock, limit: number): Promise<number> {
  const { numDeletedRows } = await queries
    .deleteFrom('schedule_runs')
    .where(({ eb, refTuple, selectFrom }) =>
      eb(
        refTuple('schedule', 'slot'),
        'in',
        selectFrom('schedule_runs as old')
          .select(['old.schedule', 'old.slot'])
          .where('old.slot', '<', timestamp(clock, -KEEP_SLOTS_MS))
          .where((eb) =>
            eb.exists(
              eb
                .selectFrom('schedule_runs as later')
                .select('later.slot')
                .whereRef('later.schedule', '=', 'old.schedule')
                .whereRef('later.slot', '>', 'old.slot'),
            ),
          )
          .limit(limit)
          .$asTuple('schedule', 'slot'),
      ),
    )
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}

async function deleteWorkers(queries: Queries, clock: Clock, limit: number): Promise<number> {
  const { numDeletedRows } = await queries
    .deleteFrom('workers')
    .where('id', 'in', (of) =>
      of
        .selectFrom('workers')
        .select('id')
        .where('seen_at', '<', timestamp(clock, -KEEP_WORKERS_MS))
        .limit(limit),
    )
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}
