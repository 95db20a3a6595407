import type { Logger } from 'pino';
import type { Database } from '../database/database.ts';
import { createPartialWrites } from '../lib/partial-writes.ts';
import type { RunningJob } from './job.ts';
import { type Progress, setProgress } from './operations-store.ts';

const SAVE_EVERY_MS = 2_000;

/** Saves the progress of a running job in its operation. */
export interface ProgressReports {
  report: RunningJob['progress'];
  /** Nothing is saved afterwards. */
  end(): Promise<void>;
}

export function createProgressReports(
  database: Database,
  jobId: string,
  log: Logger,
  everyMs = SAVE_EVERY_MS,
): ProgressReports {
  const writes = createPartialWrites<Progress>(async (progress) => {
    try {
      await database.write(({ queries }) => setProgress(queries, jobId, progress));
    } catch (err) {
      // The next report replaces it, and the outcome does not depend on it.
      log.debug({ err }, 'could not save the progress of a job');
    }
  }, everyMs);
  return {
    report: (done, total, unit, step) =>
      writes.offer({ done: Math.trunc(done), total, unit, step: step ?? null }),
    end: writes.end,
  };
}
