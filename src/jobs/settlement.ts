import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Database, Transaction } from '../database/database.ts';
import { type Clock, timestamp } from '../lib/clock.ts';
import type { Randomness } from '../lib/ids.ts';
import type { CheckedKind, Outcome } from './attempt.ts';
import { postponementMs, retryDelayMs } from './backoff.ts';
import { SetAside } from './deaths.ts';
import { AttemptInterrupted, type Described, describeFailure } from './failure.ts';
import { type Completion, Postponed } from './job.ts';
import { advanceLane } from './lanes.ts';
import {
  type ClaimedJob,
  cancelEnded,
  type Ending,
  endAttempt,
  forgetJob,
  type Lease,
  LeaseLost,
} from './leases.ts';
import { createOutage } from './outage.ts';
import { setAside } from './set-aside.ts';

/** Attempts at the kind's own `giveUp` while it throws; then the job fails without it. */
const GIVE_UP_TRIES = 3;

/** An attempt to end in the database. */
export interface Ended {
  job: ClaimedJob;
  lease: Lease;
  kind: CheckedKind;
  log: Logger;
  /** When the attempt began, milliseconds since the epoch. */
  startedAt: number;
  /** Aborts when the lease is lost, and nothing is left to write. */
  lost: AbortSignal;
}

/** Ends what waits for a running job that was cancelled, in the transaction that ends the job. */
export type OnCancelled = (
  transaction: Transaction,
  job: { kind: string; payload: unknown },
) => Promise<void>;

/** Marks the kind's own part of a transaction: its errors are no failures of the database. */
type OwnPart = (part: Promise<void>) => Promise<void>;

/**
 * Stores the outcomes of attempts. Never throws: a failed write is logged, and the lapsed lease is settled by another
 * worker.
 */
export interface Settlement {
  settle(ended: Ended, outcome: Outcome): Promise<void>;
  fail(ended: Ended, error: unknown): Promise<void>;
}

/** `shutdown` aborts when no time is left to wait for the database. */
export function createSettlement(parts: {
  database: Database;
  clock: Clock;
  random: Randomness;
  log: Logger;
  shutdown: AbortSignal;
  onCancelled: OnCancelled;
}): Settlement {
  const { database, clock, random, shutdown, onCancelled } = parts;
  const outage = createOutage(parts.log, 'write the outcome of a job');

  async function settle(ended: Ended, outcome: Outcome): Promise<void> {
    switch (outcome.is) {
      case 'done':
        return succeed(ended, outcome.completion);
      case 'failed':
        return fail(ended, outcome.error);
      case 'called off': {
        const ending = () => ({ state: 'cancelled', now: timestamp(clock) }) as const;
        const written = await persist(ended, async (transaction) => {
          await endAttempt(transaction.queries, ended.lease, ending());
          await onCancelled(transaction, ended.job);
          await advanceLane(transaction, ended.job.lane);
        });
        if (written) ended.log.info('called off');
        return;
      }
      case 'interrupted':
        if (
          await persist(ended, async ({ queries }) => {
            await endAttempt(queries, ended.lease, { state: 'handed back' });
          })
        ) {
          ended.log.info('handed back');
        }
        return;
      case 'unstoppable':
        return ended.log.warn('left to the worker that finds the lapsed lease');
      case 'lost':
        return refused(ended);
    }
  }

  async function succeed(ended: Ended, completion: Completion | undefined): Promise<void> {
    try {
      const done = await persist(ended, async (transaction, own) => {
        await endAttempt(transaction.queries, ended.lease, { state: 'succeeded', now: timestamp(clock) });
        if (completion) await own(completion(transaction));
        await advanceLane(transaction, ended.job.lane);
        if (ended.kind.isForgotten) await forgetJob(transaction.queries, ended.job.id);
      });
      if (done) ended.log.info({ duration_ms: clock.now().getTime() - ended.startedAt }, 'succeeded');
    } catch (error) {
      await fail(ended, error);
    }
  }

  async function fail(ended: Ended, error: unknown): Promise<void> {
    const { job, log } = ended;
    // Its worker died before it saw the cancellation.
    if (job.calledOff) return settle(ended, { is: 'called off' });
    const failure = describeFailure(error, job.id);
    const waitedMs = clock.now().getTime() - Date.parse(job.createdAt);
    if (error instanceof Postponed && waitedMs < ended.kind.patienceMs) {
      return postpone(ended, failure, postponementMs(waitedMs, random));
    }
    if (failure.permanent || job.attempt >= job.maxAttempts) return giveUp(ended, failure, error);
    // The lapse of the lease was delay enough.
    const delayMs = error instanceof AttemptInterrupted ? 0 : retryDelayMs(job.attempt, random);
    const isTriedAgain = await endFailed(ended, () => ({
      state: 'queued',
      runAt: timestamp(clock, delayMs),
      error: failure.line,
      reason: failure.reason,
      code: failure.code,
    }));
    if (isTriedAgain) log.warn({ err: error, retry_in_ms: delayMs }, 'failed; it is tried again');
  }

  async function postpone(ended: Ended, { line, reason, code }: Described, delayMs: number): Promise<void> {
    const isPostponed = await endFailed(ended, () => ({
      state: 'postponed',
      runAt: timestamp(clock, delayMs),
      error: line,
      reason,
      code,
    }));
    // The caller that watches the missing service logs its outage once.
    if (isPostponed) ended.log.debug({ reason: line, retry_in_ms: delayMs }, 'postponed');
  }

  async function giveUp(ended: Ended, failure: Described, error: unknown): Promise<void> {
    const { job, kind, log } = ended;
    const { line, reason, code } = failure;
    const ending = () => ({ state: 'failed', now: timestamp(clock), error: line, reason, code }) as const;
    for (let tried = 1; ; tried++) {
      try {
        const isGivenUp = await endFailed(ended, ending, async (transaction, own) => {
          if (tried <= GIVE_UP_TRIES) {
            await own(
              kind.giveUp(job.payload, { jobId: job.id, reason, code, attempts: job.attempt }, transaction),
            );
          }
          if (error instanceof SetAside && !error.isHeld) {
            const { isRepeatable } = kind;
            await setAside(transaction.queries, {
              id: job.id,
              work: error.work,
              isRepeatable,
              now: timestamp(clock),
            });
          }
          await advanceLane(transaction, job.lane);
        });
        if (isGivenUp) log.error({ err: error }, 'gave up');
        return;
      } catch (cause) {
        log.error({ err: cause, tried }, 'giving the job up failed');
      }
    }
  }

  /**
   * Ends a failed attempt. A job cancelled since its worker's last heartbeat, because its install was deleted, ends as
   * cancelled without `andThen`. Returns false in that case, and if nothing could be written.
   */
  async function endFailed(
    ended: Ended,
    ending: () => Ending,
    andThen: (transaction: Transaction, own: OwnPart) => Promise<void> = async () => {},
  ): Promise<boolean> {
    let isCalledOff = false;
    const written = await persist(ended, async (transaction, own) => {
      ({ calledOff: isCalledOff } = await endAttempt(transaction.queries, ended.lease, ending()));
      if (isCalledOff) {
        await cancelEnded(transaction.queries, ended.job.id, timestamp(clock));
        await onCancelled(transaction, ended.job);
        await advanceLane(transaction, ended.job.lane);
      } else await andThen(transaction, own);
    });
    if (written && isCalledOff) ended.log.info('called off');
    return written && !isCalledOff;
  }

  /**
   * Runs `work` in a transaction and retries while the database does not answer. Returns false if the lease was lost or
   * time ran out. Rethrows errors from `own(…)`, the kind's part of the transaction.
   */
  async function persist(
    ended: Ended,
    work: (transaction: Transaction, own: OwnPart) => Promise<void>,
  ): Promise<boolean> {
    for (;;) {
      let fault: { error: unknown } | undefined;
      try {
        await database.write((transaction) => {
          fault = undefined;
          return work(transaction, (part) =>
            part.catch((error: unknown) => {
              fault = { error };
              throw error;
            }),
          );
        });
        outage.over();
        return true;
      } catch (error) {
        if (fault !== undefined) throw error;
        if (error instanceof LeaseLost) {
          refused(ended);
          return false;
        }
        outage.failed(error);
      }
      if (!(await pause(ended.lost))) return false;
    }
  }

  /** Returns false if there is nothing left to wait for. */
  async function pause(lost: AbortSignal): Promise<boolean> {
    const signal = AbortSignal.any([lost, shutdown]);
    return sleep(outage.delayMs, true, { signal }).catch(() => false);
  }

  function refused(ended: Ended): void {
    ended.log.warn('lost its lease; what it did is not counted');
  }

  return { settle, fail };
}
