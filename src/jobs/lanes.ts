import { type Expression, type ExpressionBuilder, sql } from 'kysely';
import type { Queries, Transaction } from '../database/database.ts';
import type { JobState } from '../database/tables/jobs.ts';
import type { Tables } from '../database/tables.ts';

/**
 * The order of lanes. A job in an occupied lane is queued with the mark `behind`, and claims skip marked jobs without
 * reading them. A claim costs the same however many wait in one lane. Every change that ends a job calls {@link
 * advanceLane}, which clears the mark of the next one.
 */

const queued = sql.lit<JobState>('queued');
const running = sql.lit<JobState>('running');

/** Whether the lane has an unfinished job. */
export function isOccupied(eb: ExpressionBuilder<Tables, 'jobs'>, lane: string | Expression<string | null>) {
  return eb
    .exists(
      eb
        .selectFrom('jobs as other')
        .select('other.id')
        .where('other.lane', '=', lane)
        .where('other.state', 'in', [queued, running]),
    )
    .$castTo<boolean>();
}

/**
 * Whether the lane of the job `head` has no running job and no unfinished one before it: none `ahead` of it, and none that is
 * earlier. The mark alone is only a hint.
 */
export function isFirstOfItsLane(eb: ExpressionBuilder<Tables & { head: Tables['jobs'] }, 'head'>) {
  return eb.not(
    eb.exists(
      eb
        .selectFrom('jobs as other')
        .select('other.id')
        .whereRef('other.lane', '=', 'head.lane')
        .where('other.state', 'in', [queued, running])
        .where((of) =>
          of.or([
            of('other.state', '=', running),
            of('other.ahead', '>', of.ref('head.ahead')),
            of.and([of('other.ahead', '=', of.ref('head.ahead')), of('other.seq', '<', of.ref('head.seq'))]),
          ]),
        ),
    ),
  );
}

/**
 * Makes the first unfinished job of a lane claimable. Call it last in the transaction that ends one, so that it sees new
 * jobs.
 */
export async function advanceLane({ queries, dialect }: Transaction, lane: string | null): Promise<void> {
  if (lane === null) return;
  await queries
    .updateTable('jobs')
    .set({ behind: false })
    .where('seq', '=', (of) =>
      of
        .selectFrom('jobs as next')
        .select('next.seq')
        .where('next.lane', '=', lane)
        .where('next.state', 'in', [queued, running])
        .orderBy('next.ahead', 'desc')
        .orderBy('next.seq')
        .limit(1)
        // A locked job is being cancelled. Waiting for it could deadlock.
        .$if(dialect === 'postgres', (next) => next.forUpdate('next').skipLocked()),
    )
    .where('behind', '=', sql.lit(true))
    .execute();
}

/**
 * Finds lanes whose first unfinished job is still marked. Either it was queued at the moment the previous one ended, or
 * a process of an earlier version, without marks, ended that one. Walks from lane to lane by the index of marked jobs.
 */
export async function findHeldUpLanes(queries: Queries): Promise<string[]> {
  const { rows } = await sql<{ lane: string }>`
    with recursive lanes (lane) as (
      select (select lane from jobs where state = 'queued' and behind = true order by lane limit 1)
      union all
      select (select lane from jobs where state = 'queued' and behind = true and lane > lanes.lane order by lane limit 1)
      from lanes where lanes.lane is not null
    )
    select lane from lanes where lane is not null and (
      select behind from jobs where jobs.lane = lanes.lane and state in ('queued', 'running') order by ahead desc, seq limit 1
    )`.execute(queries);
  return rows.map(({ lane }) => lane);
}

/** Cancels the queued jobs of a lane, and the running one: its worker sees that at its next heartbeat. */
export async function cancelLane(transaction: Transaction, lane: string, now: string): Promise<void> {
  const { queries } = transaction;
  await queries
    .updateTable('jobs')
    .set({ state: 'cancelled', finished_at: now })
    .where('lane', '=', lane)
    // Implied by the next line; repeated because it is the condition of the index on lanes.
    .where('state', 'in', [queued, running])
    .where('state', '=', queued)
    .execute();
  await queries
    .updateTable('jobs')
    .set({ called_off: true })
    .where('lane', '=', lane)
    .where('state', 'in', [queued, running])
    .where('state', '=', running)
    .execute();
}

/** Sets when the queued jobs of a lane run. */
export async function rescheduleLane(queries: Queries, lane: string, runAt: string): Promise<void> {
  await queries
    .updateTable('jobs')
    .set({ run_at: runAt })
    .where('lane', '=', lane)
    .where('state', 'in', [queued, running])
    .where('state', '=', queued)
    .execute();
}

/**
 * Cancels one job: at once if it is queued; if it runs, its worker ends it, which sees that at its next heartbeat. Returns
 * null if it has ended already.
 */
export async function cancelJob(
  transaction: Transaction,
  id: string,
  now: string,
): Promise<'cancelled' | 'called off' | null> {
  const { queries } = transaction;
  const cancelled = await queries
    .updateTable('jobs')
    .set({ state: 'cancelled', finished_at: now })
    .where('id', '=', id)
    .where('state', '=', queued)
    .returning('lane')
    .executeTakeFirst();
  if (cancelled) {
    await advanceLane(transaction, cancelled.lane);
    return 'cancelled';
  }
  const calledOff = await queries
    .updateTable('jobs')
    .set({ called_off: true })
    .where('id', '=', id)
    .where('state', '=', running)
    .returning('id')
    .executeTakeFirst();
  return calledOff ? 'called off' : null;
}

/** Whether a lane has a job that is queued or running. */
export async function hasUnfinishedJobs(queries: Queries, lane: string): Promise<boolean> {
  const row = await queries
    .selectFrom('jobs')
    .select('id')
    .where('lane', '=', lane)
    .where('state', 'in', [queued, running])
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** When the queued job of a lane runs; undefined if it has none. It is not claimed before the transaction ends. */
export async function nextRunOfLane(
  { queries, dialect }: Transaction,
  lane: string,
): Promise<string | undefined> {
  const row = await queries
    .selectFrom('jobs')
    .select('run_at')
    .where('lane', '=', lane)
    .where('state', 'in', [queued, running])
    .where('state', '=', queued)
    .limit(1)
    // Without it, a claim could begin the job before it sees what this transaction writes.
    .$if(dialect === 'postgres', (job) => job.forUpdate())
    .executeTakeFirst();
  return row?.run_at;
}
