import { sql } from 'kysely';
import type { Queries } from '../database/database.ts';
import type { JobClass, JobState } from '../database/tables/jobs.ts';
import type { OperationErrorCode } from '../lib/operation.ts';

/**
 * The statements that renew and end leases; claim.ts starts them. States are literals, because both databases then use
 * the partial indexes of the table.
 */

/** A worker's hold on one attempt: the fence of every statement that ends it. */
export interface Lease {
  jobId: string;
  workerId: string;
  attempt: number;
  /**
   * Applies only if the lease was not renewed since: it ends before this time (ISO 8601). For workers that end
   * another's.
   */
  lapsedBefore?: string;
}

export interface ClaimedJob {
  id: string;
  kind: string;
  lane: string | null;
  class: JobClass;
  share: string;
  payload: unknown;
  attempt: number;
  maxAttempts: number;
  /** The job was cancelled. */
  calledOff: boolean;
  requestId: string | null;
  traceparent: string | null;
  /** When it was enqueued, ISO 8601. */
  createdAt: string;
}

/** The job is no longer this worker's: its lease lapsed, and another worker ended the attempt. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
}

const queued = sql.lit<JobState>('queued');
const running = sql.lit<JobState>('running');
export const claimedColumns = [
  'jobs.id',
  'kind',
  'lane',
  'class',
  'share',
  'payload',
  'attempt',
  'max_attempts',
  'called_off',
  'request_id',
  'traceparent',
  'jobs.created_at',
] as const;

/** Renews this worker's leases on `jobIds`. Returns those it still holds, and which of them were cancelled. */
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

/** A job whose worker let the lease lapse. */
export interface LapsedJob {
  job: ClaimedJob;
  lease: Lease;
  /** When the attempt began, ISO 8601. */
  startedAt: string;
  leaseUntil: string;
}

/** Every job of these kinds whose worker let the lease lapse. Of one worker, those that started first come first. */
export async function findLapsed(
  queries: Queries,
  kinds: readonly string[],
  now: string,
): Promise<LapsedJob[]> {
  const rows = await queries
    .selectFrom('jobs')
    .select([...claimedColumns, 'worker_id', 'started_at', 'lease_until'])
    .where('state', '=', running)
    .where('lease_until', '<', now)
    .where('kind', 'in', kinds)
    .orderBy('lease_until')
    .orderBy('started_at')
    .execute();
  return rows.map((row) => ({
    job: claimed(row),
    startedAt: row.started_at ?? now,
    leaseUntil: row.lease_until ?? now,
    lease: { jobId: row.id, workerId: row.worker_id ?? '', attempt: row.attempt, lapsedBefore: now },
  }));
}

/** The ways in which an attempt ends. A failure has two texts: `error` for the operator, `reason` for the customer. */
export type Ending =
  | { state: 'succeeded'; now: string }
  | { state: 'failed'; now: string; error: string; reason: string; code: OperationErrorCode }
  /** Another attempt, not before `runAt`. */
  | { state: 'queued'; runAt: string; error: string; reason: string; code: OperationErrorCode }
  /** Another try, not before `runAt`; this one does not count. */
  | { state: 'postponed'; runAt: string; error: string; reason: string; code: OperationErrorCode }
  /** The job was cancelled. */
  | { state: 'cancelled'; now: string }
  /** Returned untouched: the attempt does not count, and the job may start at once. */
  | { state: 'handed back' };

/**
 * Ends an attempt. Returns whether the job was cancelled meanwhile. Throws LeaseLost and changes nothing unless the
 * lease still holds.
 */
export async function endAttempt(
  queries: Queries,
  lease: Lease,
  ending: Ending,
): Promise<{ calledOff: boolean }> {
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
      fenced = fenced.set({
        state: 'succeeded',
        finished_at: ending.now,
        error: null,
        reason: null,
        reason_code: null,
      });
      break;
    case 'failed':
      fenced = fenced.set({
        state: 'failed',
        finished_at: ending.now,
        error: ending.error,
        reason: ending.reason,
        reason_code: ending.code,
      });
      break;
    case 'queued':
      fenced = fenced.set({
        state: 'queued',
        run_at: ending.runAt,
        error: ending.error,
        reason: ending.reason,
        reason_code: ending.code,
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
        reason_code: ending.code,
        attempt: eb('attempt', '-', 1),
        worker_id: null,
      }));
      break;
    case 'handed back':
      fenced = fenced.set((eb) => ({ state: 'queued', attempt: eb('attempt', '-', 1), worker_id: null }));
  }
  const ended = await fenced.returning('called_off as calledOff').executeTakeFirst();
  if (ended === undefined) throw new LeaseLost('the lease was lost');
  return ended;
}

/** Marks a job as cancelled whose attempt the same transaction has ended. */
export async function cancelEnded(queries: Queries, jobId: string, now: string): Promise<void> {
  await queries
    .updateTable('jobs')
    .set({ state: 'cancelled', finished_at: now })
    .where('id', '=', jobId)
    .execute();
}

/** Deletes the row of an ended job. */
export async function forgetJob(queries: Queries, id: string): Promise<void> {
  await queries.deleteFrom('jobs').where('id', '=', id).execute();
}

/** Counts the jobs of kinds outside `known` that wait since before `since` or were left by their worker. */
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

interface ClaimedRow {
  id: string;
  kind: string;
  lane: string | null;
  class: JobClass;
  share: string;
  payload: unknown;
  attempt: number;
  max_attempts: number;
  called_off: boolean;
  request_id: string | null;
  traceparent: string | null;
  created_at: string;
}

export function claimed(row: ClaimedRow): ClaimedJob {
  return {
    id: row.id,
    kind: row.kind,
    lane: row.lane,
    class: row.class,
    share: row.share,
    payload: row.payload,
    attempt: row.attempt,
    maxAttempts: row.max_attempts,
    calledOff: row.called_off,
    requestId: row.request_id,
    traceparent: row.traceparent,
    createdAt: row.created_at,
  };
}
