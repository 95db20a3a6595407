import type { Logger } from 'pino';
import type { Database } from '../database/database.ts';
import { type Clock, timestamp } from '../lib/clock.ts';
import { coalesce } from '../lib/concurrency.ts';
import { type Active, CalledOff, type CheckedKind, logOf } from './attempt.ts';
import { countDeath, retractDeaths } from './deaths.ts';
import { AttemptInterrupted } from './failure.ts';
import { advanceLane, findHeldUpLanes } from './lanes.ts';
import {
  type ClaimedJob,
  findLapsed,
  findUnknownKinds,
  type LapsedJob,
  LeaseLost,
  renewLeases,
} from './leases.ts';
import { showWorker } from './live-workers.ts';
import { createOutage } from './outage.ts';
import type { Settlement } from './settlement.ts';
import type { Suspects } from './suspects.ts';

/** An unknown kind is named in the log when its jobs have waited so long. */
const UNKNOWN_KIND_PATIENCE_MS = 60_000;

/** The periodic work of a worker beside its jobs. Neither part throws or waits for the other. */
export interface Upkeep {
  /** Shows that the worker lives, and renews its leases. */
  heartbeat(): Promise<void>;
  /** Milliseconds until the next heartbeat is due. */
  readonly pauseMs: number;
  /**
   * Ends the attempts of dead workers, makes the first job of each lane claimable, and logs kinds that no process knows.
   */
  sweep(): Promise<void>;
}

export function createUpkeep(parts: {
  database: Database;
  clock: Clock;
  log: Logger;
  settlement: Settlement;
  workerId: string;
  process: string;
  kinds: ReadonlyMap<string, CheckedKind>;
  otherKinds: readonly string[];
  active: ReadonlySet<Active>;
  suspects: Suspects;
  leaseMs: number;
  heartbeatMs: number;
}): Upkeep {
  const { database, clock, log, settlement, workerId, kinds, active, suspects, leaseMs, heartbeatMs } = parts;
  const heartbeats = createOutage(log, 'keep the leases of jobs');
  const sweeps = createOutage(log, 'look for jobs that were left');
  const names = [...kinds.keys()];
  const warned = new Set<string>();
  let nextLookForUnknown = 0;

  const heartbeat = coalesce(async () => {
    try {
      await within(leaseMs / 5, renew());
      heartbeats.over();
    } catch (error) {
      heartbeats.failed(error);
      dropLapsed();
    }
  });

  const sweep = coalesce(async () => {
    try {
      await recover();
      await suspects.refresh(database.reader);
      await advanceHeldUpLanes();
      await nameUnknownKinds();
      sweeps.over();
    } catch (error) {
      sweeps.failed(error);
    }
  });

  async function renew(): Promise<void> {
    const present = [...active].filter((one) => !one.lost.signal.aborted);
    const { renewed, leaseUntil } = await database.write(async (transaction) => {
      // Not before: the wait for the transaction may take longer than a lease.
      const leaseUntil = clock.now().getTime() + leaseMs;
      await showWorker(transaction, { id: workerId, process: parts.process, seenAt: timestamp(clock) });
      await retractDeaths(transaction.queries, workerId);
      const ids = present.map((one) => one.job.id);
      const until = new Date(leaseUntil).toISOString();
      return { renewed: await renewLeases(transaction.queries, workerId, ids, until), leaseUntil };
    });
    const rows = new Map(renewed.map((row) => [row.id, row]));
    for (const one of present) {
      const row = rows.get(one.job.id);
      if (row?.attempt === one.job.attempt) {
        one.leaseUntil = leaseUntil;
        if (row.calledOff) one.calledOff.abort(new CalledOff('the job was called off'));
      } else if (!one.settling) lose(one);
    }
  }

  /** Without an answer from the database, an expired lease counts as lost: another worker may have the job. */
  function dropLapsed(): void {
    const now = clock.now().getTime();
    for (const one of active) if (one.leaseUntil <= now) lose(one);
  }

  function lose(one: Active): void {
    const reason = new LeaseLost('the lease was lost');
    one.lost.abort(reason);
    one.controller.abort(reason);
  }

  async function recover(): Promise<void> {
    for (const lapsed of await findLapsed(database.reader, names, timestamp(clock))) {
      const { job, lease } = lapsed;
      const kind = kinds.get(job.kind);
      // A process that slept finds its own leases lapsed; its next heartbeat renews them.
      if (kind === undefined || underWayHere(job)) continue;
      const ended = {
        job,
        lease,
        kind,
        log: logOf(log, job),
        startedAt: 0,
        lost: new AbortController().signal,
      };
      await settlement.fail(ended, await endOf(lapsed, kind, ended.log));
    }
  }

  /** Why a lapsed attempt ended. */
  async function endOf(lapsed: LapsedJob, { isHarmless }: CheckedKind, jobLog: Logger): Promise<Error> {
    const now = clock.now().getTime();
    if (lapsed.lease.workerId === workerId || isHarmless) return new AttemptInterrupted();
    const verdict = await database.write(async (transaction) => {
      const counted = await countDeath(transaction, lapsed, { leaseMs, now });
      // Before this worker can claim the job again.
      await suspects.refresh(transaction.queries);
      return counted;
    });
    if (verdict === null) return new AttemptInterrupted();
    jobLog.warn('the process of its worker died');
    return verdict === 'suspect' ? new AttemptInterrupted() : verdict;
  }

  function underWayHere(job: ClaimedJob): boolean {
    return [...active].some((one) => one.job.id === job.id && one.job.attempt === job.attempt);
  }

  async function advanceHeldUpLanes(): Promise<void> {
    const lanes = await findHeldUpLanes(database.reader);
    if (lanes.length === 0) return;
    await database.write(async (transaction) => {
      for (const lane of lanes) await advanceLane(transaction, lane);
    });
  }

  async function nameUnknownKinds(): Promise<void> {
    const now = clock.now().getTime();
    if (now < nextLookForUnknown) return;
    nextLookForUnknown = now + UNKNOWN_KIND_PATIENCE_MS;
    const found = await findUnknownKinds(
      database.reader,
      [...names, ...parts.otherKinds],
      timestamp(clock, -UNKNOWN_KIND_PATIENCE_MS),
    );
    for (const { kind, jobs } of found) {
      if (warned.has(kind)) continue;
      warned.add(kind);
      log.warn({ kind, jobs }, 'jobs of a kind that this version does not know wait for a process that does');
    }
  }

  return {
    heartbeat,
    sweep,
    get pauseMs() {
      return heartbeats.present ? heartbeatMs / 3 : heartbeatMs;
    },
  };
}

/** Rejects if `work` takes longer; a hanging connection must not blind the worker. */
async function within(ms: number, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`the database did not answer within ${ms} ms`)), ms);
  });
  try {
    await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
