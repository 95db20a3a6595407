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
          output.write(`${CLEAR_LINE}${what}: ${describe(job)}, ${seconds(elapsedMs)}`);
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

function describe({ state, attempt, error }: SeenJob): string {
  if (state === 'queued' && (attempt > 0 || error !== null))
    return `waiting for a retry after: ${error ?? 'a failure'}`;
  return state === 'queued' ? 'waiting' : state;
}

function seconds(ms: number): string {
  return `${Math.floor(ms / 1000)} s`;
}
