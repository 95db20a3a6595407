import { setTimeout as sleep } from 'node:timers/promises';
import type { Services } from '../../app/services.ts';
import { presentJobOf, progressOf } from '../../jobs/operations-store.ts';
import { withOwnCommand } from '../../lib/own-command.ts';
import type { Platform } from '../../platform/platform.ts';
import { followJob, type SeenJob } from '../terminal/follow-job.ts';
import { printable } from '../terminal/output.ts';
import { createProgress } from '../terminal/progress.ts';

/** As shells report a program that SIGINT ended. */
const INTERRUPTED = 130;

/**
 * Waits until a job has ended, with a running server or by doing it itself, and shows how long that takes. `title`: what is
 * being done; `subject`: the same as a subject (`The switch of shop`). Undefined if Ctrl-C came before the end, which is
 * then said and is the command's status. Prints the warning of a job that succeeded.
 */
export async function waitForJob(
  jobId: string,
  { title, subject }: { title: string; subject: string },
  platform: Platform,
  services: Services,
): Promise<SeenJob | undefined> {
  const { queue, database, clock } = platform;
  const { hasLiveWorker } = await import('./present-workers.ts');
  const { isServerWaiting } = await import('./websites-lock.ts');
  const { warningOf } = await import('../../jobs/operation-warning.ts');
  const interrupted = new AbortController();
  const interrupt = () => interrupted.abort();
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt);
  const progress = createProgress(title, process.stderr);
  let hasOwnWorker = false;
  try {
    const ended = await followJob({
      // Another job can continue its operation.
      find: async () => {
        const id = (await presentJobOf(database.reader, jobId)) ?? jobId;
        const job = await queue.find(id);
        return job && { ...job, progress: await progressOf(database.reader, id) };
      },
      hasLiveWorker: () => hasLiveWorker(platform),
      startWorker: async () => {
        const { startOwnWorker } = await import('./own-worker.ts');
        const worker = await startOwnWorker(platform, services);
        hasOwnWorker = worker !== null;
        return worker;
      },
      isServerWaiting() {
        const isWaiting = isServerWaiting(platform.config);
        if (isWaiting) hasOwnWorker = false;
        return isWaiting;
      },
      report: progress.report,
      clock,
      sleep: (ms) => sleep(ms),
      signal: interrupted.signal,
    });
    progress.end();
    if (ended === undefined) {
      process.exitCode = INTERRUPTED;
      process.stderr.write(withOwnCommand(`${whatGoesOn(jobId, subject, hasOwnWorker)}\n`));
    }
    const warning = ended?.state === 'succeeded' ? await warningOf(database.reader, jobId) : null;
    if (warning !== null) process.stderr.write(`Warning: ${printable(warning)}.\n`);
    return ended;
  } finally {
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
  }
}

function whatGoesOn(jobId: string, subject: string, hasOwnWorker: boolean): string {
  return hasOwnWorker
    ? `${subject} stays in the queue (job ${jobId}). It continues when "homeport serve" runs.`
    : `${subject} continues without this command (job ${jobId}).`;
}
