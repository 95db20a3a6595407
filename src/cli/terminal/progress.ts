import type { SeenJob } from './follow-job.ts';

/** Shows the progress of a job. */
export interface Progress {
  report(job: SeenJob, elapsedMs: number): void;
  /** Ends the line on the terminal. */
  end(): void;
}

interface Output {
  isTTY?: boolean;
  write(text: string): unknown;
}

const CLEAR_LINE = '\r\u001b[2K';
/** Interval of lines without a terminal. */
const REPEAT_AFTER_MS = 30_000;

/** On a terminal one line that changes; elsewhere a line for each change, and one every half minute. */
export function createProgress(what: string, output: Output): Progress {
  let lastState = '';
  let lastAt = 0;
  return output.isTTY
    ? {
        report: (job, elapsedMs) => {
          output.write(`${CLEAR_LINE}${what}: ${describe(job)}${amountOf(job)}, ${seconds(elapsedMs)}`);
        },
        end: () => {
          output.write(CLEAR_LINE);
        },
      }
    : {
        report: (job, elapsedMs) => {
          const state = describe(job);
          if (state === lastState && elapsedMs - lastAt < REPEAT_AFTER_MS) return;
          output.write(`${what}: ${state}, ${seconds(elapsedMs)}\n`);
          lastState = state;
          lastAt = elapsedMs;
        },
        end: () => {},
      };
}

function describe({ state, attempt, error, progress }: SeenJob): string {
  if (state === 'queued' && (attempt > 0 || error !== null))
    return `waiting for a retry after: ${error ?? 'a failure'}`;
  if (state === 'running' && progress?.step === 'wordpress') return 'downloading WordPress';
  return state === 'queued' ? 'waiting' : state;
}

const MIB = 1024 * 1024;

/** How much a running job has done, as `, 12 of 27 MiB`; empty if it does not report that. */
function amountOf({ state, progress }: SeenJob): string {
  if (state !== 'running' || !progress || progress.done === 0) return '';
  const { done, total, unit } = progress;
  const amount = (count: number) => (unit === 'bytes' ? Math.round(count / MIB) : count);
  const all = total === null ? '' : ` of ${amount(total)}`;
  return `, ${amount(done)}${all} ${unit === 'bytes' ? 'MiB' : 'files'}`;
}

function seconds(ms: number): string {
  return `${Math.floor(ms / 1000)} s`;
}
