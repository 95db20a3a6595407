import type { RunningJob } from '../src/jobs/job.ts';

/** The context of an attempt for tests that call `run` of a kind themselves. By default, nothing ends the attempt. */
export function runningJob(parts: Pick<RunningJob, 'log'> & Partial<RunningJob>): RunningJob {
  const never = new AbortController().signal;
  return {
    id: crypto.randomUUID(),
    attempt: 1,
    requestId: null,
    signal: never,
    stopping: never,
    isHeld: () => true,
    progress: () => {},
    ...parts,
  };
}
