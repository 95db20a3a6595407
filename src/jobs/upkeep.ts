import type { Logger } from 'pino';
import { type Clock, timestamp } from '../clock.ts';
import type { Database } from '../database/database.ts';
import { type Active, type CheckedKind, logOf } from './attempt.ts';
import { AttemptInterrupted } from './failure.ts';
import { findLapsed, findUnknownKinds, LeaseLost, renewLeases } from './leases.ts';
import { showWorker } from './live-workers.ts';
import { createOutage } from './outage.ts';
import { coalesce } from './repeat.ts';
import type { Settlement } from './settlement.ts';

/** A kind that nobody knows is named in the log when its jobs have waited so long. */
const UNKNOWN_KIND_PATIENCE_MS = 60_000;

/** What a worker does every few seconds: it shows that it lives, keeps its leases, and ends those of dead workers. */
export interface Upkeep {
  /** Never throws. */
  turn(): Promise<void>;
  /** Milliseconds until the next turn is due. */
  readonly pauseMs: number;
}

export function createUpkeep(parts: {
  database: Database;
  clock: Clock;
  log: Logger;
  settlement: Settlement;
  workerId: string;
  process: string;
  kinds: ReadonlyMap<string, CheckedKind>;
  active: ReadonlySet<Active>;
  leaseMs: number;
  heartbeatMs: number;
}): Upkeep {
  const { database, clock, log, settlement, workerId, kinds, active, leaseMs, heartbeatMs } = parts;
  const outage = createOutage(log, 'keep the leases of jobs');
  const names = [...kinds.keys()];
  const warned = new Set<string>();
  let nextLookForUnknown = 0;

  /** Its own leases first, so that a process that slept does not take its own jobs for a dead worker's. */
  const turn = coalesce(async () => {
    try {
      await within(heartbeatMs, heartbeat());
      await recover();
      await nameUnknownKinds();
      outage.over();
    } catch (error) {
      outage.failed(error);
      dropLapsed();
    }
  });

  async function heartbeat(): Promise<void> {
    const present = [...active].filter((one) => !one.lost.signal.aborted);
    const leaseUntil = clock.now().getTime() + leaseMs;
    const renewed = await database.write(async (transaction) => {
      await showWorker(transaction, { id: workerId, process: parts.process, seenAt: timestamp(clock) });
      const ids = present.map((one) => one.job.id);
      return renewLeases(transaction.queries, workerId, ids, new Date(leaseUntil).toISOString());
    });
    const attempts = new Map(renewed.map((row) => [row.id, row.attempt]));
    for (const one of present) {
      if (attempts.get(one.job.id) === one.job.attempt) one.leaseUntil = leaseUntil;
      else if (!one.settling) lose(one);
    }
  }

  /** Without word from the database, a lease that has run out must be taken for lost: another worker may have it. */
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
    for (const { job, lease } of await findLapsed(database.reader, names, timestamp(clock))) {
      const kind = kinds.get(job.kind);
      if (kind === undefined) continue;
      const ended = {
        job,
        lease,
        kind,
        log: logOf(log, job),
        startedAt: 0,
        lost: new AbortController().signal,
      };
      await settlement.fail(ended, new AttemptInterrupted());
    }
  }

  async function nameUnknownKinds(): Promise<void> {
    const now = clock.now().getTime();
    if (now < nextLookForUnknown) return;
    nextLookForUnknown = now + UNKNOWN_KIND_PATIENCE_MS;
    const found = await findUnknownKinds(database.reader, names, timestamp(clock, -UNKNOWN_KIND_PATIENCE_MS));
    for (const { kind, jobs } of found) {
      if (warned.has(kind)) continue;
      warned.add(kind);
      log.warn({ kind, jobs }, 'jobs of a kind that this version does not know wait for a process that does');
    }
  }

  return {
    turn,
    get pauseMs() {
      return outage.present ? heartbeatMs / 3 : heartbeatMs;
    },
  };
}

/** Rejects if `work` takes longer; a connection that hangs must not keep the worker from noticing. */
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
