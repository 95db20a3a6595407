import type { Logger } from 'pino';
import type { Static, TSchema } from 'typebox';
import type { Transaction } from '../database/database.ts';
import type { JobClass } from '../database/tables/jobs.ts';
import type { OperationErrorCode, OperationKind, ProgressUnit } from '../lib/operation.ts';

/**
 * Glossary.
 * - kind: a sort of work (`provision_install`); code that every process of one version shares.
 * - job: one row of the table `jobs`; enqueued once, finished once.
 * - attempt: one try at a job by one worker. Attempts are counted from 1.
 * - lane: jobs of one lane run one at a time, in the order they were enqueued, those enqueued `ahead` first. An install is a lane.
 * - class: `short` or `long` (minutes to hours: backups, restores). Each class has its own slots.
 * - slot: room for one running job in a worker.
 * - share: the account, or the platform, whose part of the slots a job uses. Shares take turns.
 * - lease: a worker's claim to a job, for seconds, renewed by its heartbeat. A worker whose lease lapses loses the job.
 * - death: the end of a worker's process without an orderly stop, while jobs ran.
 * - suspect: a job that ran at a death. It is set aside, and not tried again, if processes go on dying (deaths.ts).
 * - fence: the check, in the transaction that ends an attempt, that the worker still holds the job.
 * - operation: what users see of a job, or of several that follow each other. It has the id of the first one.
 */

/** The declaration of a kind, which services need to enqueue jobs; they need not know how the work is done. */
export interface JobType<Schema extends TSchema = TSchema> {
  /** Stored for as long as a job lives: renaming one orphans waiting jobs. E.g. `provision_install`. */
  readonly name: string;
  /** Checked by the compiler when a job is enqueued, and at run time when it is read back. */
  readonly payload: Schema;
  /** Attempts before the job is given up; at least 1. */
  readonly maxAttempts: number;
  /** Milliseconds for one attempt; then its signal aborts and it counts as failed. */
  readonly timeoutMs: number;
  /** How long after its request a job can be {@link Postponed}, in milliseconds; 3 days by default. */
  readonly patienceMs?: number;
  /** The kind of operation that users see; omitted for jobs that they do not see. */
  readonly operation?: OperationKind;
  /** Whether the same job can run again after `giveUp`, if an operator wants that. Default: if the kind has no `giveUp`. */
  readonly isRepeatable?: boolean;
  /** `long` for work whose duration depends on the size of a website; default `short`. */
  readonly class?: JobClass;
  /** It cannot end the process, so it is never a suspect: many of its jobs run at any death. */
  readonly isHarmless?: boolean;
  /** The row of a job that succeeded is deleted, because there are many, and other tables record what they did. */
  readonly isForgotten?: boolean;
}

/**
 * A kind of job with its work. Jobs run at least once, so `run` is idempotent: it brings the outside world to the
 * desired state from any state. Database effects belong in the completion, where they happen exactly once.
 *
 * `run` and `giveUp` are methods on purpose: that makes every `JobKind<Schema>` a `JobKind`, so kinds of different
 * payloads go into one list. The worker is their only caller, and checks the payload against the schema before.
 */
export interface JobKind<Schema extends TSchema = TSchema> extends JobType<Schema> {
  /**
   * Does the work. I/O is allowed, and is aborted with `job.signal`. The returned function runs in the transaction that
   * marks the job succeeded, behind the fence. Throwing ends the attempt: a PermanentFailure also ends the job; other
   * errors are retried later, and {@link Postponed} does not count.
   */
  // biome-ignore lint/suspicious/noConfusingVoidType: work without database effects returns nothing at all
  run(payload: Static<Schema>, job: RunningJob): Promise<Completion | void>;
  /**
   * Runs in the transaction that marks the job failed for good (attempts used up, or PermanentFailure), so that the API
   * never shows abandoned work as pending. Not called for payloads that no longer fit the schema, nor for cancelled
   * jobs.
   */
  giveUp?(payload: Static<Schema>, failure: JobFailure, transaction: Transaction): Promise<void>;
}

/** Database effects of a job's success. May run more than once if the transaction is repeated: queries only. */
export type Completion = (transaction: Transaction) => Promise<void>;

/** The context of an attempt. */
export interface RunningJob {
  readonly id: string;
  /** From 1. */
  readonly attempt: number;
  /** The request that enqueued the job, for the log. */
  readonly requestId: string | null;
  /** Aborts when the attempt times out, the lease is lost, the job is cancelled, or the worker must stop. */
  readonly signal: AbortSignal;
  /** Aborts when the worker begins to stop, before `signal`. Work that can go on later ends then. */
  readonly stopping: AbortSignal;
  /** Whether the lease is certain at this moment. It is not after a standstill of the process, and another worker may have the job. */
  isHeld(): boolean;
  /** Has the job in every line. */
  readonly log: Logger;
  /**
   * Reports how much is done, for the job's operation. `total`: null until it is known. `step`: of work with several. Cheap, so call it
   * as often as work proceeds: it is saved at most every two seconds.
   */
  readonly progress: (done: number, total: number | null, unit: ProgressUnit, step?: string) => void;
}

export interface JobFailure {
  jobId: string;
  /** One line, safe to show to the customer. */
  reason: string;
  /** The number of attempts. */
  attempts: number;
  code: OperationErrorCode;
}

/** Thrown by `run` if retries do not help. The message is one line, safe to show to the customer. */
export class PermanentFailure extends Error {
  override readonly name = 'PermanentFailure';
  readonly code: OperationErrorCode;
  constructor(message: string, { code = 'failed', ...options }: FailureOptions = {}) {
    super(message, options);
    this.code = code;
  }
}

/** `code`: of the operation's error. */
interface FailureOptions extends ErrorOptions {
  code?: OperationErrorCode;
}

/**
 * Thrown by `run` if a dependency is unreachable. The attempt does not count, and another one follows within 30 s until
 * the kind's patience is used up; from then on it counts as any failure. The message is one line, safe to show to the
 * customer.
 */
export class Postponed extends Error {
  override readonly name = 'Postponed';
  readonly code: OperationErrorCode;
  constructor(message: string, { code = 'waiting', ...options }: FailureOptions = {}) {
    super(message, options);
    this.code = code;
  }
}

/** A kind that the settings have switched off. Its queued jobs end without work, so that they do not wait in their lanes for ever. */
export function switchedOff<Schema extends TSchema>(
  type: JobType<Schema>,
  end?: (payload: Static<Schema>, transaction: Transaction) => Promise<void>,
): JobKind<Schema> {
  return {
    ...type,
    async run(payload) {
      return async (transaction) => end?.(payload, transaction);
    },
  };
}

/** Infers the payload's type from its schema, so that `run` need not repeat it. */
export function defineJob<Schema extends TSchema>(kind: JobKind<Schema>): JobKind<Schema> {
  return kind;
}
