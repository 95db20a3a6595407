import type { Logger } from 'pino';
import type { Static, TSchema } from 'typebox';
import type { Transaction } from '../database/database.ts';
import type { JobClass } from '../database/tables/jobs.ts';

/**
 * Glossary.
 * - kind: what sort of work a job is (`provision_install`); code that every process of one version shares.
 * - job: one row of the table `jobs`; asked for once, finished once.
 * - attempt: one try at a job by one worker. Attempts are counted from 1.
 * - lane: jobs of one lane run one at a time, in the order they were asked for. An install is a lane.
 * - class: `short` or `long` (minutes to hours: backups, restores). Each class has slots of its own.
 * - slot: room for one running job in a worker.
 * - share: whose part of the slots a job uses: an account, or the platform. Shares take turns.
 * - lease: a worker's claim to a job, for seconds, renewed by its heartbeat. Who lets it lapse loses the job.
 * - fence: the check, in the transaction that ends an attempt, that the worker still holds the job.
 */

/** What it takes to ask for a job: known to services, which need not know how the work is done. */
export interface JobType<Schema extends TSchema = TSchema> {
  /** In the database for as long as a job lives: renaming one orphans the jobs that wait. E.g. `provision_install`. */
  readonly name: string;
  /** Checked by the compiler when a job is enqueued, and at run time when it is read back. */
  readonly payload: Schema;
  /** How many attempts a job has before it is given up; at least 1. */
  readonly maxAttempts: number;
  /** Milliseconds for one attempt; then its signal aborts and it counts as failed. */
  readonly timeoutMs: number;
  /** For so many milliseconds after it was asked for it can be {@link Postponed}; 3 days if left out. */
  readonly patienceMs?: number;
  /** `long` for work whose duration depends on the size of a website; `short` if left out. */
  readonly class?: JobClass;
}

/**
 * A kind of job and how its work is done. Jobs run at least once, so `run` is idempotent: it brings the outside world
 * to the desired state, whatever was there before. Database effects belong into the completion: they happen exactly
 * once.
 *
 * `run` and `giveUp` are methods on purpose: that makes every `JobKind<Schema>` a `JobKind`, so kinds of different
 * payloads go into one list. The worker is their only caller, and checks the payload against the schema before.
 */
export interface JobKind<Schema extends TSchema = TSchema> extends JobType<Schema> {
  /**
   * Does the work; I/O is allowed, and is given up when `job.signal` aborts. What it returns runs in the very
   * transaction that marks the job succeeded, behind the fence. Throwing ends the attempt: a PermanentFailure ends
   * the job as well, anything else is tried again after a while, and does not count if it is {@link Postponed}.
   */
  // biome-ignore lint/suspicious/noConfusingVoidType: work without database effects returns nothing at all
  run(payload: Static<Schema>, job: RunningJob): Promise<Completion | void>;
  /**
   * Runs in the transaction that marks the job failed for good (attempts used up, or PermanentFailure), so that what
   * the API shows never says "pending" of work that nobody does any more. Not called if the payload no longer fits
   * its schema, nor for jobs that were cancelled.
   */
  giveUp?(payload: Static<Schema>, failure: JobFailure, transaction: Transaction): Promise<void>;
}

/** Database effects of a job's success. May run more than once if the transaction is repeated: queries only. */
export type Completion = (transaction: Transaction) => Promise<void>;

/** What an attempt knows of itself. */
export interface RunningJob {
  readonly id: string;
  /** From 1. */
  readonly attempt: number;
  /** The request that asked for the job, for the log. */
  readonly requestId: string | null;
  /** Aborts when the attempt timed out, the lease was lost, the job was called off, or the worker must stop. */
  readonly signal: AbortSignal;
  /** Names the job in every line. */
  readonly log: Logger;
}

export interface JobFailure {
  /** One line, safe to show to the customer. */
  reason: string;
  /** How many attempts there were. */
  attempts: number;
}

/** Thrown by `run`: trying again will not help. The message is one line, safe to show to the customer. */
export class PermanentFailure extends Error {
  override readonly name = 'PermanentFailure';
}

/**
 * Thrown by `run`: what it needs is away, and nothing can be said of the work itself. The attempt does not count, and another one follows
 * within 30 s, until the kind's patience is used up; from then on it counts as any failure. The message is one line, safe to show to
 * the customer.
 */
export class Postponed extends Error {
  override readonly name = 'Postponed';
}

/** Infers the payload's type from its schema, so that `run` need not repeat it. */
export function defineJob<Schema extends TSchema>(kind: JobKind<Schema>): JobKind<Schema> {
  return kind;
}
