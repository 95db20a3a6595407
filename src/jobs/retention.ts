import { setImmediate as nextTurn } from 'node:timers/promises';
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
      deleted.jobs = await deleteJobs(database, { clock, askedAfter }, signal);
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

/** Finished jobs that one query looks at. Nearly all of the last 30 days stay, because users see them as operations. */
const PAGE = 500;

/** Whether a job that finished 7 days ago is deleted. */
function isOld(
  eb: ExpressionBuilder<Tables, 'jobs'>,
  queries: Queries,
  { clock, askedAfter }: { clock: Clock; askedAfter: Lanes },
) {
  // As a value: to find out whether it exists, PostgreSQL reads all operations for many jobs.
  const operation = eb
    .selectFrom('operations')
    .select('operations.id')
    .whereRef('operations.job_id', '=', 'jobs.id');
  return eb.or([
    eb('state', '<>', failed).and(eb(operation, 'is', null)),
    eb('finished_at', '<', timestamp(clock, -KEEP_LONGER_MS)).and(
      eb.or([eb('state', '<>', failed), eb('lane', 'is', null), eb('lane', 'not in', askedAfter(queries))]),
    ),
  ]);
}

/** Deletes jobs, and with them their operations. Returns their number. */
async function deleteJobs(
  { reader, write }: Database,
  parts: { clock: Clock; askedAfter: Lanes },
  signal: AbortSignal,
): Promise<number> {
  let deleted = 0;
  let last = { finished_at: '', seq: 0 };
  for (;;) {
    signal.throwIfAborted();
    const page = await reader
      .selectFrom('jobs')
      .select((eb) => ['seq', 'finished_at', isOld(eb, reader, parts).as('is_old')])
      .where(finished)
      .where('finished_at', '<', timestamp(parts.clock, -KEEP_FINISHED_MS))
      .$if(last.seq > 0, (query) =>
        query.where(({ eb, refTuple, tuple }) =>
          eb(refTuple('finished_at', 'seq'), '>', tuple(last.finished_at, last.seq)),
        ),
      )
      .orderBy('finished_at')
      .orderBy('seq')
      .limit(PAGE)
      .$narrowType<{ finished_at: string }>()
      .execute();
    const old = page.filter(({ is_old }) => is_old).map(({ seq }) => seq);
    if (old.length > 0) {
      const { numDeletedRows } = await write(({ queries }) =>
        queries
          .deleteFrom('jobs')
          .where('seq', 'in', old)
          // An operator may have repeated it.
          .where(finished)
          .where((eb) => isOld(eb, queries, parts))
          .executeTakeFirstOrThrow(),
      );
      deleted += Number(numDeletedRows);
    }
    const end = page.at(-1);
    if (end === undefined || page.length < PAGE) return deleted;
    last = end;
    // Other work goes on.
    await nextTurn();
  }
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
