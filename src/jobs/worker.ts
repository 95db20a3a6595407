import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Database, Transaction } from '../database/database.ts';
import type { JobClass } from '../database/tables/jobs.ts';
import { uniqueViolation } from '../database/unique-violation.ts';
import { type Clock, timestamp } from '../lib/clock.ts';
import { coalesce, type Repetition, repeatEvery } from '../lib/concurrency.ts';
import type { Randomness } from '../lib/ids.ts';
import {
  type Active,
  type CheckedKind,
  carryOut,
  kindsByName,
  logOf,
  type Outcome,
  WorkerStopping,
} from './attempt.ts';
import { claimDue } from './claim.ts';
import type { JobKind } from './job.ts';
import type { ClaimedJob } from './leases.ts';
import { forgetWorker, noteStopping, showWorker } from './live-workers.ts';
import { createOutage } from './outage.ts';
import { createProgressReports } from './progress.ts';
import type { Queue } from './queue.ts';
import { createSettlement, type OnCancelled } from './settlement.ts';
import { divideSlots, JOB_CLASSES, slotsOfOneShare } from './slots.ts';
import { createSuspects } from './suspects.ts';
import { createUpkeep } from './upkeep.ts';

export { LIVE_WITHIN_MS, type LiveWorker, liveWorkers } from './live-workers.ts';

/** Claims jobs from the queue and runs several at once. Any number of workers share a queue. */
export interface Worker {
  readonly id: string;
  start(): void;
  /** Notes that its process stops in order, so that its end is no death, however soon that comes. Jobs go on until {@link stop}. Never rejects. */
  announceStop(): Promise<void>;
  /**
   * Claims no new jobs and waits up to `graceMs` for the running ones; then aborts their signals and returns to the
   * queue those that end. The attempt of a returned job does not count. A stopped worker stays stopped. Throws at the end if jobs
   * ignored their signals: they go on until the process ends.
   */
  stop(graceMs: number): Promise<void>;
  /**
   * Resolves when this worker runs nothing and can claim nothing now; at once if it is not started. Does not wait for
   * delayed jobs or for jobs behind one that another worker runs.
   */
  idle(): Promise<void>;
}

export interface WorkerParts {
  database: Database;
  queue: Queue;
  /** The kinds this worker runs. Jobs of other kinds stay for other workers and are named in the log. */
  kinds: readonly JobKind[];
  /** Names of kinds that another worker of this process runs, so that they are not unknown. */
  otherKinds?: readonly string[];
  clock: Clock;
  random: Randomness;
  log: Logger;
  /** Jobs that run at once; {@link divideSlots} divides them between short and long ones. */
  concurrency: number;
  /** Slots of one share, in each class. Default: {@link slotsOfOneShare}. */
  mostOfOneShare?: number;
  /**
   * How long a worker keeps a job without a heartbeat. One process sets a lease by its clock and another judges it by
   * its own, so clocks of different machines must agree to within `leaseMs - 2 · heartbeatMs`. Otherwise a job may run
   * twice at once; its database effects still happen once, because of the fence.
   */
  leaseMs?: number;
  heartbeatMs?: number;
  /** Milliseconds until the worker finds jobs enqueued by other processes; newly due ones may take four times as long, up to a second. */
  pollMs?: number;
  /** Runs the work of an attempt. */
  around?: (job: ClaimedJob, work: () => Promise<Outcome>) => Promise<Outcome>;
  /** Called after each attempt, with how it ended. */
  onEnded?: (attempt: { kind: string; outcome: Outcome['is']; seconds: number }) => void;
  /** Called after the outcome of an attempt was written, or could not be. The next attempt of the job may have begun. Must not reject. */
  onSettled?: (jobId: string) => Promise<void>;
  /** Called for running jobs that were cancelled; default: does nothing. */
  onCancelled?: OnCancelled;
  /** How long an aborted job may take to end before it counts as unresponsive. */
  abortGraceMs?: number;
}

/** How many looks a database without commits saves, and how late a job is claimed at most that becomes due. */
const MOST_LOOKS_LEFT_OUT = 4;
const LATEST_MS = 1_000;

export function createWorker(parts: WorkerParts): Worker {
  const { database, queue, clock, random } = parts;
  const { leaseMs = 10_000, heartbeatMs = 3_000, pollMs = 250, abortGraceMs = 5_000 } = parts;
  const dueMs = Math.min(MOST_LOOKS_LEFT_OUT * pollMs, Math.max(pollMs, LATEST_MS));
  const kinds = kindsByName(parts.kinds);
  const names = [...kinds.keys()];
  const id = random.uuid();
  const processName = `${hostname()}:${process.pid}`;
  const log = parts.log.child({ worker: id });
  const claims = createOutage(log, 'claim jobs');
  const shutdown = new AbortController();
  const stopping = new AbortController();
  const suspects = createSuspects(database, clock);
  const settlement = createSettlement({
    database,
    clock,
    random,
    log,
    shutdown: shutdown.signal,
    onCancelled: parts.onCancelled ?? (async () => {}),
  });
  const active = new Set<Active>();
  /** Attempts whose jobs ignored their signals. */
  const unstoppable = new Set<Active>();
  const slots = divideSlots(parts.concurrency);
  /** The share that had the last turn. */
  const cursors: Record<JobClass, string> = { short: '', long: '' };
  /** Attempts begun by this worker so far. */
  let attempts = 0;
  /** Claims that took nothing and are repeated at once. */
  let conflicts = 0;
  const upkeep = createUpkeep({
    database,
    clock,
    log,
    settlement,
    workerId: id,
    process: processName,
    kinds,
    otherKinds: parts.otherKinds ?? [],
    active,
    suspects,
    leaseMs,
    heartbeatMs,
  });
  const repetitions: Repetition[] = [];
  let unsubscribe = () => {};
  /** The database knows this worker. */
  let isShown = false;
  let state: 'new' | 'started' | 'stopped' = 'new';
  /** The last look for jobs that found none. */
  let looked: { mark: number | null; atMs: number } | null = null;

  const claim = coalesce(async () => {
    if (state !== 'started' || suspects.isAlone(active)) return;
    try {
      const { rounds, ...claimed } = await database.write(async (transaction) => {
        // Not before: the wait for the transaction may take longer than a lease.
        const now = clock.now().getTime();
        const leaseUntil = now + leaseMs;
        // A job must not run before it is known which worker has died if the process dies.
        if (!isShown) {
          await showWorker(transaction, { id, process: processName, seenAt: timestamp(clock) });
        }
        await suspects.provide(transaction.queries);
        const isOneByOne = suspects.areOpen;
        const rounds: (Awaited<ReturnType<typeof claimClass>> & { jobClass: JobClass })[] = [];
        for (const jobClass of JOB_CLASSES) {
          if (isOneByOne && rounds.some(({ jobs }) => jobs.length > 0)) break;
          const most = isOneByOne ? 1 : Number.POSITIVE_INFINITY;
          rounds.push({ jobClass, ...(await claimClass(transaction, jobClass, { now, leaseUntil, most })) });
        }
        // Another process may have noticed a death since the last sweep.
        if (rounds.some(({ jobs }) => jobs.some(({ attempt }) => attempt > 1))) {
          await suspects.refresh(transaction.queries);
          if (suspects.areOpen && !isOneByOne) throw new ClaimedTogether();
        }
        return { rounds, isOneByOne, now, leaseUntil };
      });
      claims.over();
      isShown = true;
      for (const { jobClass, jobs, cursor } of rounds) {
        cursors[jobClass] = cursor;
        for (const job of jobs) begin(job, claimed);
      }
      if (claimed.isOneByOne && rounds.some(({ jobs }) => jobs.length > 0)) wake();
    } catch (error) {
      // Another process claimed a job of the same lane at the same moment. It is visible now, so the next claim works.
      if (uniqueViolation(error) === 'jobs.lane' || error instanceof ClaimedTogether) {
        conflicts += 1;
        wake();
      } else claims.failed(error);
    }
  });

  async function claimClass(
    transaction: Transaction,
    jobClass: JobClass,
    { now, leaseUntil, most }: { now: number; leaseUntil: number; most: number },
  ) {
    const present = [...active].filter((one) => one.job.class === jobClass);
    const cursor = cursors[jobClass];
    const limit = Math.min(most, slots[jobClass] - present.length);
    if (limit <= 0) return { jobs: [], cursor };
    const running = new Map<string, number>();
    for (const { job } of present) running.set(job.share, (running.get(job.share) ?? 0) + 1);
    return claimDue(transaction, {
      workerId: id,
      kinds: names,
      class: jobClass,
      now: new Date(now).toISOString(),
      leaseUntil: new Date(leaseUntil).toISOString(),
      limit,
      limitOfOneShare: parts.mostOfOneShare ?? slotsOfOneShare(slots[jobClass]),
      running,
      cursor,
    });
  }

  /** Claims if another process may have enqueued jobs, or if some may have become due. A claim is a transaction, so idle servers need few. */
  async function look(): Promise<void> {
    const now = clock.now().getTime();
    const mark = database.commitMark();
    const last = looked;
    if (mark !== null && last?.mark === mark && Math.abs(now - last.atMs) < dueMs && !claims.present) return;
    looked = null;
    const before = attempts;
    await claim();
    // Commits during the claim count as later ones.
    if (attempts === before) looked = { mark, atMs: now };
  }

  const wake = () => void claim();

  function begin(job: ClaimedJob, { now, leaseUntil }: { now: number; leaseUntil: number }): void {
    attempts += 1;
    const one: Active = {
      job,
      lease: { jobId: job.id, workerId: id, attempt: job.attempt },
      controller: new AbortController(),
      calledOff: new AbortController(),
      lost: new AbortController(),
      leaseUntil,
      startedAt: now,
      suspectOf: suspects.workOf(job),
      settling: false,
      goesOn(work) {
        unstoppable.add(one);
        void work.finally(() => unstoppable.delete(one));
      },
      ended: Promise.resolve(),
    };
    active.add(one);
    one.ended = attempt(one)
      .catch((error: unknown) => log.error({ err: error, job: job.id }, 'an attempt ended in disorder'))
      .finally(() => {
        active.delete(one);
        wake();
      });
  }

  async function attempt(one: Active): Promise<void> {
    const { job } = one;
    const kind = kinds.get(job.kind);
    if (kind === undefined) throw new Error(`claimed a job of the unknown kind ${job.kind}`);
    const jobLog = logOf(log, job);
    const startedAt = clock.now().getTime();
    const work = () => begun(kind, one, jobLog);
    const outcome = await (parts.around === undefined ? work() : parts.around(job, work));
    parts.onEnded?.({
      kind: kind.name,
      outcome: outcome.is,
      seconds: (clock.now().getTime() - startedAt) / 1000,
    });
    one.settling = true;
    const ended = { job, lease: one.lease, kind, log: jobLog, startedAt, lost: one.lost.signal };
    await settlement.settle(ended, outcome);
    await parts.onSettled?.(job.id);
    await suspects.survived(one.suspectOf, outcome);
  }

  async function begun(kind: CheckedKind, one: Active, jobLog: Logger): Promise<Outcome> {
    // Claimed while the worker was being stopped.
    if (state !== 'started') return { is: 'interrupted' };
    // The previous attempt ended before it could see the cancellation.
    if (one.job.calledOff) return { is: 'called off' };
    const refusal = await suspects.refusal(one.suspectOf);
    if (refusal !== null) return { is: 'failed', error: refusal };
    jobLog.debug('started');
    const reports = createProgressReports(database, one.job.id, jobLog);
    const outcome = await carryOut(kind, one.job, one, abortGraceMs, {
      stopping: stopping.signal,
      isHeld: () => !one.lost.signal.aborted && clock.now().getTime() < one.leaseUntil,
      log: jobLog,
      progress: reports.report,
    });
    await reports.end();
    return outcome;
  }

  const repeatNow = (work: () => Promise<void>, delayMs: () => number) =>
    repeatEvery(work, {
      delayMs,
      onError: (err) => log.error({ err }, 'the upkeep of a worker failed; it is tried again'),
      immediately: true,
      keepsProcessAlive: true,
    });

  const allEnded = async () => {
    await Promise.all([...active].map((one) => one.ended));
  };

  const announceStop = () =>
    noteStopping(database, id).catch((error: unknown) =>
      log.warn({ err: error }, 'could not note that the worker stops'),
    );

  return {
    id,
    announceStop,
    start() {
      if (state !== 'new') throw new Error('a worker is started once');
      state = 'started';
      unsubscribe = queue.onEnqueued(wake);
      repetitions.push(
        repeatNow(upkeep.heartbeat, () => upkeep.pauseMs),
        repeatNow(upkeep.sweep, () => heartbeatMs),
        repeatNow(look, () => claims.delayMs || pollMs),
      );
    },

    async stop(graceMs) {
      if (state !== 'started') return;
      state = 'stopped';
      unsubscribe();
      const noted = announceStop();
      stopping.abort();
      const enough = new AbortController();
      const grace = sleep(graceMs, undefined, { signal: enough.signal }).catch(() => {});
      await Promise.race([claim().then(allEnded), grace]);
      enough.abort();
      shutdown.abort();
      for (const one of active) one.controller.abort(new WorkerStopping('the worker stops'));
      await claim();
      await allEnded();
      await Promise.all(repetitions.map((repetition) => repetition.stop()));
      await noted;
      await forgetWorker(database, id).catch((error: unknown) =>
        log.warn({ err: error }, 'could not take the worker off the list of those that live'),
      );
      if (unstoppable.size === 0) return;
      const ids = [...unstoppable].map(({ job }) => job.id);
      throw new Error(`These jobs go on: ${ids.join(', ')}`);
    },

    async idle() {
      while (state === 'started') {
        await upkeep.heartbeat();
        await upkeep.sweep();
        // A job that ends during a look may leave the next of its lane unseen, so only a look without running jobs
        // counts.
        const quiet = active.size === 0;
        const before = attempts + conflicts;
        await claim();
        if (quiet && attempts + conflicts === before && !claims.present) return;
        await allEnded();
        if (claims.present) await sleep(claims.delayMs);
      }
    },
  };
}

/** A claim took a suspect with other jobs. It is repeated, one by one. */
class ClaimedTogether extends Error {}
