import type { ExpressionBuilder } from 'kysely';
import type { Static, TSchema } from 'typebox';
import type { Database, Transaction } from '../database/database.ts';
import type { JobState } from '../database/tables/jobs.ts';
import type { Tables } from '../database/tables.ts';
import { type Clock, timestamp } from '../lib/clock.ts';
import { allDone } from '../lib/concurrency.ts';
import type { Randomness } from '../lib/ids.ts';
import type { OperationKind } from '../lib/operation.ts';
import type { JobType } from './job.ts';
import { cancelJob, cancelLane, isOccupied, nextRunOfLane, rescheduleLane } from './lanes.ts';
import { continueOperation, insertOperation, isInstallId } from './operations-store.ts';

export interface NewJob<Payload> {
  payload: Payload;
  /** Jobs of one lane run one at a time and in order; null: in parallel with everything else. */
  lane: string | null;
  /** The account whose share of the workers it uses. Default: the account of `install`. */
  account?: string;
  /** Default: the lane, if the lane is an install. A job without install uses the platform's share. */
  install?: string;
  /** The request that enqueued it, for the job's log lines. */
  requestId?: string | null;
  /** Delay in milliseconds. It also delays the later jobs of its lane. */
  delayMs?: number;
  /** It runs before all jobs that wait in its lane, such as one that repairs what they need. */
  ahead?: boolean;
  /** Attempts before it is given up. Default: those of its kind. */
  maxAttempts?: number;
  /** The kind of its operation. Default: that of the job's type. Null: users do not see this job. */
  operation?: OperationKind | null;
  /** The result of its operation once it has succeeded, for example `{ backup_id }`. */
  result?: Record<string, string>;
  /** The name of `install`, which is looked up without it and `account`. Required if the install is deleted already. */
  installName?: string;
  /** The id of the job that it continues: the operation of that job is then the operation of this one. */
  continues?: string;
}

/** The durable queue: a table of the same database as the state, so that a change and its work are one transaction. */
export interface Queue {
  /**
   * Inserts the job in the caller's transaction, and wakes the workers of this process after the commit; those of other
   * processes find it at their next poll. Returns the job's id.
   *
   * Order within a lane is the order of these calls, with jobs that are `ahead` first. Concurrent transactions have no order, so callers that need one
   * first lock the lane's row (its install).
   *
   * If users see the job, it gets an operation with the same id (docs/api.md, Operations), unless it continues one.
   */
  enqueue<Schema extends TSchema>(
    transaction: Transaction,
    kind: JobType<Schema>,
    job: NewJob<Static<Schema>>,
  ): Promise<string>;
  /**
   * Enqueues a job unless its lane has a queued one, which then runs no later than this one would. It sees what this transaction
   * commits. A running one may have looked before.
   */
  ensure<Schema extends TSchema>(
    transaction: Transaction,
    kind: JobType<Schema>,
    job: NewJob<Static<Schema>> & { lane: string },
  ): Promise<void>;
  /**
   * Cancels the queued jobs of a lane, retries included. The signal of a running job aborts within seconds, at its
   * worker's heartbeat; it keeps the lane until it ends.
   */
  cancelLane(transaction: Transaction, lane: string): Promise<void>;
  /** Sets when the queued jobs of a lane run, in milliseconds from now. Running jobs are not affected. */
  reschedule(transaction: Transaction, lane: string, delayMs: number): Promise<void>;
  /**
   * Cancels one job: `cancelled` if it was queued, `called off` if it runs and its worker will end it, null if it has ended.
   * A worker that has completed the work first still counts it as succeeded.
   */
  cancel(transaction: Transaction, id: string): Promise<'cancelled' | 'called off' | null>;
  /** A job's state and its last failure (for the operator, see failure.ts); null for an unknown id. */
  find(id: string): Promise<{ state: JobState; error: string | null; attempt: number } | null>;
  /** Calls `listener` after each commit that enqueued jobs in this process. Returns the unsubscribe function. */
  onEnqueued(listener: () => void): () => void;
}

/** `traceparentOf`: the trace of a request, if traces are on. */
export function createQueue(
  database: Database,
  clock: Clock,
  random: Randomness,
  traceparentOf?: (requestId: string) => string | null,
): Queue {
  const listeners = new Set<() => void>();
  const wake = () => {
    for (const listener of listeners) listener();
  };

  const self: Queue = {
    async enqueue(
      transaction,
      kind,
      { payload, lane, account, install = lane, requestId = null, delayMs = 0, ...more },
    ) {
      const { ahead = false, maxAttempts = kind.maxAttempts, ...seen } = more;
      const id = random.uuid();
      const inserted = transaction.queries
        .insertInto('jobs')
        .values((eb) => ({
          id,
          kind: kind.name,
          lane,
          payload: JSON.stringify(payload),
          class: kind.class ?? 'short',
          share: account ?? shareOfInstall(eb, install),
          ahead,
          behind: lane === null ? false : isOccupied(eb, lane),
          max_attempts: maxAttempts,
          run_at: timestamp(clock, delayMs),
          request_id: requestId,
          traceparent: requestId === null ? null : (traceparentOf?.(requestId) ?? null),
          created_at: timestamp(clock),
          lease_until: null,
          worker_id: null,
          error: null,
          started_at: null,
          finished_at: null,
        }))
        .execute();
      const { queries } = transaction;
      await allDone([
        inserted,
        seen.continues !== undefined
          ? continueOperation(queries, seen.continues, id)
          : insertOperation(queries, {
              id,
              kind: seen.operation === null ? undefined : (seen.operation ?? kind.operation),
              accountId: account,
              installId: install,
              installName: seen.installName,
              result: seen.result,
              createdAt: timestamp(clock),
            }),
      ]);
      transaction.afterCommit(wake);
      return id;
    },

    async ensure(transaction, kind, job) {
      const runAt = await nextRunOfLane(transaction, job.lane);
      if (runAt === undefined) await self.enqueue(transaction, kind, job);
      else if (runAt > timestamp(clock, job.delayMs)) {
        await self.reschedule(transaction, job.lane, job.delayMs ?? 0);
      }
    },

    async cancelLane(transaction, lane) {
      await cancelLane(transaction, lane, timestamp(clock));
    },

    async reschedule(transaction, lane, delayMs) {
      await rescheduleLane(transaction.queries, lane, timestamp(clock, delayMs));
      transaction.afterCommit(wake);
    },
    cancel: (transaction, id) => cancelJob(transaction, id, timestamp(clock)),

    async find(id) {
      const row = await database.reader
        .selectFrom('jobs')
        .select(['state', 'error', 'attempt'])
        .where('id', '=', id)
        .executeTakeFirst();
      return row ?? null;
    },

    onEnqueued(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  return self;
}

const PLATFORM = 'platform';

/** The account of an install; the platform if the install does not exist. */
function shareOfInstall(eb: ExpressionBuilder<Tables, 'jobs'>, install: string | null) {
  if (!isInstallId(install)) return PLATFORM;
  const account = eb
    .selectFrom('installs')
    .select((of) => of.cast<string>('account_id', 'text').as('share'))
    .where('id', '=', install);
  return eb.fn.coalesce(account, eb.val(PLATFORM));
}
