import { type ExpressionBuilder, sql } from 'kysely';
import type { Queries } from '../database/database.ts';
import type { JobState } from '../database/tables/jobs.ts';
import type { Tables } from '../database/tables.ts';

/**
 * The statements that take, renew and end leases. States are literals and not parameters, since that is what lets
 * both databases use the partial indexes of the table.
 */

/** A worker's hold on one attempt; the fence that every statement ending the attempt stands behind. */
export interface Lease {
  jobId: string;
  workerId: string;
  attempt: number;
  /** Only if the lease was not renewed since: it ends before this time (ISO 8601). For those who end another's. */
  lapsedBefore?: string;
}

export interface ClaimedJob {
  id: string;
  kind: string;
  lane: string | null;
  payload: unknown;
  attempt: number;
  maxAttempts: number;
  /** Nobody wants it any more. */
  calledOff: boolean;
  requestId: string | null;
  /** When it was asked for, ISO 8601. */
  createdAt: string;
}

/** The job is no longer this worker's: its lease lapsed, and somebody else ended the attempt. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
}

const queued = sql.lit<JobState>('queued');
const running = sql.lit<JobState>('running');
const claimedColumns = [
  'jobs.id',
  'kind',
  'lane',
  'payload',
  'attempt',
  'max_attempts',
  'called_off',
  'request_id',
  'jobs.created_at',
] as const;

/**
 * Takes up to `limit` jobs that are due, oldest first, and counts their attempt. Only the first unfinished job of a lane
 * can be taken, so an earlier one holds up its lane even while it waits for its next attempt. Of two processes that
 * take jobs of one lane in the same instant, the unique index `jobs.lane` refuses one, whose whole claim fails.
 */
export async function claimDue(
  queries: Queries,
  dialect: 'sqlite' | 'postgres',
  claim: { workerId: string; kinds: readonly string[]; now: string; leaseUntil: string; limit: number },
): Promise<ClaimedJob[]> {
  // PostgreSQL's statistics are mostly of an empty queue, by which sorting all that is due costs nothing. With a
  // backlog it does; this has it walk the index, which is in order, so a claim costs the same however many wait.
  if (dialect === 'postgres') await sql`set local enable_sort = off`.execute(queries);
  const rows = await queries
    .with('due', (query) =>
      query
        .selectFrom('jobs')
        .select('jobs.id')
        .where('jobs.state', '=', queued)
        .where('jobs.run_at', '<=', claim.now)
        .where('jobs.kind', 'in', claim.kinds)
        .where(firstOfItsLane)
        .orderBy('jobs.run_at')
        .orderBy('jobs.seq')
        // A literal: for a limit that it does not know PostgreSQL plans to read the whole table.
        .limit(sql.lit(claim.limit))
        .$if(dialect === 'postgres', (due) => due.forUpdate('jobs').skipLocked()),
    )
    .updateTable('jobs')
    .from('due')
    .whereRef('jobs.id', '=', 'due.id')
    .set((eb) => ({
      state: 'running',
      attempt: eb('jobs.attempt', '+', 1),
      worker_id: claim.workerId,
      lease_until: claim.leaseUntil,
      started_at: claim.now,
    }))
    .returning([...claimedColumns, 'jobs.seq'])
    .execute();
  return rows.sort((a, b) => a.seq - b.seq).map(claimed);
}

function firstOfItsLane(eb: ExpressionBuilder<Tables, 'jobs'>) {
  return eb.not(
    eb.exists(
      eb
        .selectFrom('jobs as other')
        .select('other.id')
        .whereRef('other.lane', '=', 'jobs.lane')
        .where('other.state', 'in', [queued, running])
        .where((of) => of.or([of('other.state', '=', running), of('other.seq', '<', of.ref('jobs.seq'))])),
    ),
  );
}

/** Renews the leases on `jobIds` that are still this worker's, and tells which those are, and which of them were called off. */
export async function renewLeases(
  queries: Queries,
  workerId: string,
  jobIds: readonly string[],
  leaseUntil: string,
): Promise<{ id: string; attempt: number; calledOff: boolean }[]> {
  if (jobIds.length === 0) return [];
  return queries
    .updateTable('jobs')
    .set({ lease_until: leaseUntil })
    .where('state', '=', running)
    .where('worker_id', '=', workerId)
    .where('id', 'in', jobIds)
    .returning(['id', 'attempt', 'called_off as calledOff'])
    .execute();
}

/** Every job of these kinds whose worker let the lease lapse. */
export async function findLapsed(
  queries: Queries,
  kinds: readonly string[],
  now: string,
): Promise<{ job: ClaimedJob; lease: Lease }[]> {
  const rows = await queries
    .selectFrom('jobs')
    .select([...claimedColumns, 'worker_id'])
    .where('state', '=', running)
    .where('lease_until', '<', now)
    .where('kind', 'in', kinds)
    .orderBy('lease_until')
    .execute();
  return rows.map((row) => ({
    job: claimed(row),
    lease: { jobId: row.id, workerId: row.worker_id ?? '', attempt: row.attempt, lapsedBefore: now },
  }));
}

/** The ways in which an attempt ends. Why it failed is told twice: `error` is for the operator, `reason` for the customer. */
export type Ending =
  | { state: 'succeeded'; now: string }
  | { state: 'failed'; now: string; error: string; reason: string }
  /** Another attempt not before `runAt`. */
  | { state: 'queued'; runAt: string; error: string; reason: string }
  /** Another try not before `runAt`; this one does not count. */
  | { state: 'postponed'; runAt: string; error: string; reason: string }
  /** Nobody wants it any more. */
  | { state: 'cancelled'; now: string }
  /** Given back untouched: the attempt does not count, and it may begin at once. */
  | { state: 'handed back' };

/** Ends an attempt. Throws LeaseLost, and changes nothing, unless the lease still holds. */
export async function endAttempt(queries: Queries, lease: Lease, ending: Ending): Promise<void> {
  let fenced = queries
    .updateTable('jobs')
    .set({ lease_until: null })
    .where('id', '=', lease.jobId)
    .where('state', '=', running)
    .where('worker_id', '=', lease.workerId)
    .where('attempt', '=', lease.attempt);
  if (lease.lapsedBefore !== undefined) fenced = fenced.where('lease_until', '<', lease.lapsedBefore);
  switch (ending.state) {
    case 'succeeded':
      fenced = fenced.set({ state: 'succeeded', finished_at: ending.now, error: null, reason: null });
      break;
    case 'failed':
      fenced = fenced.set({
        state: 'failed',
        finished_at: ending.now,
        error: ending.error,
        reason: ending.reason,
      });
      break;
    case 'queued':
      fenced = fenced.set({
        state: 'queued',
        run_at: ending.runAt,
        error: ending.error,
        reason: ending.reason,
        worker_id: null,
      });
      break;
    case 'cancelled':
      fenced = fenced.set({ state: 'cancelled', finished_at: ending.now });
      break;
    case 'postponed':
      fenced = fenced.set((eb) => ({
        state: 'queued',
        run_at: ending.runAt,
        error: ending.error,
        reason: ending.reason,
        attempt: eb('attempt', '-', 1),
        worker_id: null,
      }));
      break;
    case 'handed back':
      fenced = fenced.set((eb) => ({ state: 'queued', attempt: eb('attempt', '-', 1), worker_id: null }));
  }
  const { numUpdatedRows } = await fenced.executeTakeFirstOrThrow();
  if (numUpdatedRows === 0n) throw new LeaseLost('the lease was lost');
}

/** How many jobs wait since before `since`, or were left by their worker, of kinds that are not among the `known`. */
export async function findUnknownKinds(
  queries: Queries,
  known: readonly string[],
  since: string,
): Promise<{ kind: string; jobs: number }[]> {
  return queries
    .selectFrom('jobs')
    .select((eb) => ['kind', eb.fn.countAll<number>().as('jobs')])
    .where((eb) =>
      eb.or([
        eb('state', '=', queued).and('run_at', '<', since),
        eb('state', '=', running).and('lease_until', '<', since),
      ]),
    )
    .where('kind', 'not in', known)
    .groupBy('kind')
    .execute();
}

/** Cancels what waits in a lane, and calls off what runs: its worker sees that at its next heartbeat. */
export async function cancelLane(queries: Queries, lane: string, now: string): Promise<void> {
  await queries
    .updateTable('jobs')
    .set({ state: 'cancelled', finished_at: now })
    .where('lane', '=', lane)
    // Implied by the next line; spelled out because it is the condition of the index on lanes.
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

interface ClaimedRow {
  id: string;
  kind: string;
  lane: string | null;
  payload: unknown;
  attempt: number;
  max_attempts: number;
  called_off: boolean;
  request_id: string | null;
  created_at: string;
}

function claimed(row: ClaimedRow): ClaimedJob {
  return {
    id: row.id,
    kind: row.kind,
    lane: row.lane,
    payload: row.payload,
    attempt: row.attempt,
    maxAttempts: row.max_attempts,
    calledOff: row.called_off,
    requestId: row.request_id,
    createdAt: row.created_at,
  };
}
