import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';

/** Bound of a whole stop, from the signal to the end of the process. systemd kills after 90 s. */
export const LONGEST_STOP_MS = 15_000;
/** Bound of all steps. Then the process reports what did not end, and exits. */
const WHOLE_MS = LONGEST_STOP_MS - 1_000;
/** Minimum time of a step, however long the steps before it took. */
const STEP_MS = 400;

/** Steps that end a process in order. */
export interface Shutdown {
  /** Adds a step. The latest added runs first. `graceMs`: time for work in progress. */
  add(name: string, end: (graceMs: number) => Promise<void> | void): void;
  /**
   * Runs every step once, even after one that failed or hung, within `wholeMs` (14 s) in all. Never throws; returns the
   * names of the steps that failed or hung.
   */
  run(graceMs: number, wholeMs?: number): Promise<string[]>;
}

export function createShutdown(log: Logger): Shutdown {
  const steps: { name: string; end: (graceMs: number) => Promise<void> | void }[] = [];

  return {
    add(name, end) {
      steps.push({ name, end });
    },
    async run(graceMs, wholeMs = WHOLE_MS) {
      const begun = performance.now();
      const left = (ms: number) => Math.max(0, begun + ms - performance.now());
      const failed: string[] = [];
      for (let step = steps.pop(); step !== undefined; step = steps.pop()) {
        const { name, end } = step;
        const timer = new AbortController();
        const limit = Math.max(STEP_MS, left(wholeMs) - steps.length * STEP_MS);
        const late = sleep(limit, 'late' as const, { signal: timer.signal }).catch(() => 'ended' as const);
        const ending = Promise.resolve()
          .then(() => end(left(graceMs)))
          .then(
            () => 'ended' as const,
            (err: unknown) => {
              log.error({ err, step: name }, 'a step of the shutdown failed');
              return 'failed' as const;
            },
          );
        const outcome = await Promise.race([ending, late]);
        timer.abort();
        if (outcome === 'late') log.error({ step: name }, 'a step of the shutdown did not end in time');
        if (outcome !== 'ended') failed.push(name);
      }
      return failed;
    },
  };
}
