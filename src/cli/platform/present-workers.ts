import { hostname } from 'node:os';
import { runs } from '../../app/running-process.ts';
import type { Database } from '../../database/database.ts';
import { type LiveWorker, liveWorkers } from '../../jobs/worker.ts';
import type { Clock } from '../../lib/clock.ts';

export interface PresentWorker extends LiveWorker {
  /** Whether it runs on this machine. */
  here: boolean;
}

/**
 * The live workers. A killed worker stays listed for seconds, except on this machine, where it is
 * recognised at once.
 */
export async function presentWorkers(database: Database, clock: Clock): Promise<PresentWorker[]> {
  const here = `${hostname()}:`;
  return (await liveWorkers(database, clock)).flatMap((worker) => {
    if (!worker.process.startsWith(here)) return { ...worker, here: false };
    return runs(pidOf(worker)) ? { ...worker, here: true } : [];
  });
}

/** The id of a worker's process on its machine. */
export function pidOf({ process }: Pick<LiveWorker, 'process'>): number {
  return Number(process.slice(process.lastIndexOf(':') + 1));
}
