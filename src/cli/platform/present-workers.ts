import { hostname } from 'node:os';
import type { Database } from '../../database/database.ts';
import { LIVE_WITHIN_MS, type LiveWorker, liveWorkers } from '../../jobs/worker.ts';
import { type Clock, timestamp } from '../../lib/clock.ts';
import { MINUTE_MS } from '../../lib/durations.ts';
import { runs } from '../../lib/running-process.ts';
import type { Platform } from '../../platform/platform.ts';
import { areWebsitesServed, isServerWaiting } from './websites-lock.ts';

export interface PresentWorker extends LiveWorker {
  /** Whether it runs on this machine. */
  here: boolean;
}

/** On this machine, a worker that a full load keeps from showing itself still counts. Longer, its process id may be another's. */
const HERE_WITHIN_MS = 2 * MINUTE_MS;

/**
 * The live workers, one of each process. A killed worker stays listed for seconds, except on this machine, where its process says
 * whether it lives.
 */
export async function presentWorkers(database: Database, clock: Clock): Promise<PresentWorker[]> {
  const here = `${hostname()}:`;
  const elsewhereSince = timestamp(clock, -LIVE_WITHIN_MS);
  const live = await liveWorkers(database, clock, HERE_WITHIN_MS);
  const byProcess = new Map(live.map((worker) => [worker.process, worker]));
  return [...byProcess.values()].flatMap((worker) => {
    if (worker.process.startsWith(here)) return runs(pidOf(worker)) ? { ...worker, here: true } : [];
    return worker.seenAt > elsewhereSince ? { ...worker, here: false } : [];
  });
}

/** Whether a worker is live, or will be: a server locks its websites, or waits for them, before it starts one. */
export async function hasLiveWorker({
  config,
  database,
  clock,
}: Pick<Platform, 'config' | 'database' | 'clock'>): Promise<boolean> {
  if ((await presentWorkers(database, clock)).length > 0) return true;
  return config.host === 'embedded' && (areWebsitesServed(config) || isServerWaiting(config));
}

/** The id of a worker's process on its machine. */
export function pidOf({ process }: Pick<LiveWorker, 'process'>): number {
  return Number(process.slice(process.lastIndexOf(':') + 1));
}
