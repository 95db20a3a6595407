import type { Logger } from 'pino';
import type { Clock } from '../../../lib/clock.ts';
import { MINUTE_MS } from '../../../lib/durations.ts';

/** Runs the scheduled tasks of websites (WP-Cron) when they are due. */
export interface ScheduledTasks {
  /** Starts due runs as far as there is room. The end of a run starts the next one. */
  look(): void;
  /** Websites whose tasks have been due for so long that they are late. */
  late(): number;
  /** Aborts the runs, and resolves once they have ended. */
  stop(): Promise<void>;
}

interface ScheduledTasksOptions {
  /** Ids of the present websites. */
  websites(): string[];
  /** Whether a website cannot run now. */
  isHeld(id: string): boolean;
  /** Runs a website's tasks. Returns the time of the next one in milliseconds, or null. */
  run(id: string, signal: AbortSignal): Promise<number | null>;
  log: Logger;
  clock: Clock;
}

/** Few, so that tasks leave processes to visitors. */
const AT_ONCE = 2;
/** A website whose last run took this long is slow. */
const SLOW_MS = MINUTE_MS / 2;
/** Between two runs of a website, and before the first one after a start. */
const PAUSE_MS = 5 * MINUTE_MS;
/** Beyond the time at which tasks are due. */
const LATE_MS = 10 * MINUTE_MS;
/** Without a task that is due earlier. */
const LONGEST_PAUSE_MS = 60 * MINUTE_MS;

/** The website that has waited longest comes first. Slow ones run one after the other, so they leave room for the others. */
export function createScheduledTasks(options: ScheduledTasksOptions): ScheduledTasks {
  const { websites, isHeld, run, log, clock } = options;
  /** When tasks of a website are due, in milliseconds. */
  const due = new Map<string, number>();
  const slow = new Set<string>();
  const running = new Map<string, { startedMs: number; ended: Promise<void> }>();
  const stopping = new AbortController();
  const now = (): number => clock.now().getTime();

  function startDue(): void {
    const present = now();
    const waiting = [...due]
      .filter(([id, atMs]) => atMs <= present && !running.has(id) && !isHeld(id))
      .sort(([, one], [, other]) => one - other);
    for (const [id] of waiting) {
      if (running.size >= AT_ONCE || stopping.signal.aborted) return;
      if (!slow.has(id) || ![...running.keys()].some(isSlow)) begin(id);
    }
  }

  function isSlow(id: string): boolean {
    const startedMs = running.get(id)?.startedMs;
    return slow.has(id) || (startedMs !== undefined && now() - startedMs >= SLOW_MS);
  }

  function begin(id: string): void {
    const startedMs = now();
    const ended = attempt(id).then((nextMs) => {
      if (now() - startedMs >= SLOW_MS) slow.add(id);
      else slow.delete(id);
      running.delete(id);
      const latest = startedMs + LONGEST_PAUSE_MS;
      // Not for one that is gone.
      if (due.has(id)) due.set(id, Math.max(now() + PAUSE_MS, Math.min(nextMs ?? latest, latest)));
      startDue();
    });
    running.set(id, { startedMs, ended });
  }

  /** A run that failed is due again after the shortest pause. */
  async function attempt(id: string): Promise<number | null> {
    try {
      return await run(id, stopping.signal);
    } catch (err) {
      if (!stopping.signal.aborted) log.warn({ err, install: id }, 'scheduled tasks of a website failed');
      return 0;
    }
  }

  return {
    look() {
      const present = new Set(websites());
      for (const id of due.keys()) {
        if (present.has(id)) continue;
        due.delete(id);
        slow.delete(id);
      }
      for (const id of present) if (!due.has(id)) due.set(id, now() + PAUSE_MS);
      startDue();
    },

    late() {
      const since = now() - LATE_MS;
      return [...due].filter(([id, atMs]) => atMs < since && !running.has(id)).length;
    },

    async stop() {
      stopping.abort();
      await Promise.all([...running.values()].map(({ ended }) => ended));
    },
  };
}
