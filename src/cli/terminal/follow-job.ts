import type { JobState } from '../../database/tables/jobs.ts';
import type { Progress } from '../../jobs/operations-store.ts';
import type { Clock } from '../../lib/clock.ts';
import { OperatorError } from '../../lib/operator-error.ts';

export interface SeenJob {
  state: JobState;
  /** The last failure. */
  error: string | null;
  /** How often it was begun. */
  attempt: number;
  /** How much is done, for kinds that report it. */
  progress?: Progress | null;
}

export interface FollowedJob {
  find(): Promise<SeenJob | null>;
  /** Whether another process works on the queue, or is about to. */
  hasLiveWorker(): Promise<boolean>;
  /** Begins to work on the queue in this process. Null if another process has begun meanwhile. */
  startWorker(): Promise<StartedWorker | null>;
  /** Whether a server cannot start because of this process's worker. */
  isServerWaiting(): boolean;
  /** Called at each look, with the time since the first one. */
  report(job: SeenJob, elapsedMs: number): void;
  clock: Clock;
  sleep(ms: number): Promise<void>;
  /** Ends the waiting; the job stays as it is. */
  signal: AbortSignal;
}

export interface StartedWorker {
  /**
   * Waits up to `graceMs` for what is under way; what does not end by then goes back to the queue. Returns whether all has stopped. If
   * not, this process ends soon, and keeps the websites until then.
   */
  stop(graceMs: number): Promise<boolean>;
}

const LOOK_EVERY_MS = 200;
/** Longer than the 10 s after which a killed worker of another machine counts as gone. */
const LOOK_FOR_WORKERS_EVERY_MS = 2_000;
const GRACE_MS = 10_000;

/**
 * Waits for a job to end and returns it, or undefined if the signal comes first. Without a live worker, this process runs
 * the job, until a server starts, which then continues it.
 */
export async function followJob(job: FollowedJob): Promise<SeenJob | undefined> {
  const { clock, signal } = job;
  const begun = clock.now().getTime();
  let lookForWorkersAt = begun;
  let own: StartedWorker | null = null;
  try {
    while (!signal.aborted) {
      const now = clock.now().getTime();
      const seen = await job.find();
      if (seen === null) throw new Error('the job vanished from the queue');
      job.report(seen, now - begun);
      if (seen.state !== 'queued' && seen.state !== 'running') return seen;
      if (own !== null && job.isServerWaiting()) {
        const worker: StartedWorker = own;
        own = null;
        if (!(await worker.stop(0))) {
          throw new OperatorError(
            'This command ends, because a server starts. The server continues the job.',
          );
        }
        lookForWorkersAt = clock.now().getTime() + LOOK_FOR_WORKERS_EVERY_MS;
      } else if (own === null && now >= lookForWorkersAt) {
        if (!(await job.hasLiveWorker())) own = await job.startWorker();
        lookForWorkersAt = now + LOOK_FOR_WORKERS_EVERY_MS;
      }
      await job.sleep(LOOK_EVERY_MS);
    }
    return undefined;
  } finally {
    await own?.stop(signal.aborted ? 0 : GRACE_MS);
  }
}
