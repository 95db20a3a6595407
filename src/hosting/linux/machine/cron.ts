import type { Logger } from 'pino';
import type { Clock } from '../../../lib/clock.ts';

/** Runs the scheduled tasks of websites (WP-Cron), so that visitors need not wait for them. */
export interface Cron {
  start(): void;
  /** Websites that have waited for more than two rounds. */
  late(): number;
  /** Starts no more runs; resolves once the current ones have ended. */
  stop(): Promise<void>;
}

export interface CronOptions {
  /** Runs a website's due tasks. */
  runCron(installId: string): Promise<void>;
  /** Ids of the current websites. */
  installs(): readonly string[];
  clock: Clock;
  log: Logger;
  /** Length of a round in milliseconds: each website runs once in it. */
  everyMs?: number;
  /** How many run concurrently. */
  atOnce?: number;
}

/** A website that has waited for more rounds than this is behind. */
const BEHIND_ROUNDS = 2;
/** Longest time between two looks at the list of websites. */
const LONGEST_PAUSE_MS = 10_000;

/**
 * Spreads the runs over the round: with `n` websites, one starts every `everyMs / n`, longest wait first, new websites before
 * all others. A website never runs twice at once, and a failure does not delay the others.
 */
export function createCron(options: CronOptions): Cron {
  const { runCron, installs, clock, log, everyMs = 300_000, atOnce = 2 } = options;
  /** When the last turn of each website began, in milliseconds. */
  const turns = new Map<string, number>();
  const running = new Map<string, Promise<void>>();
  let lastTurnAt = Number.NEGATIVE_INFINITY;
  let wasBehind = false;
  let timer: NodeJS.Timeout | undefined;
  let state: 'new' | 'started' | 'stopped' = 'new';

  /** Starts the next run if it is due, and schedules the next look. */
  function look(): void {
    clearTimeout(timer);
    if (state !== 'started') return;
    const present = installs();
    forgetAllBut(present);
    const now = clock.now().getTime();
    const pause = everyMs / Math.max(present.length, 1);
    const next = longestWaiting(present.filter((id) => !running.has(id)));
    if (next !== undefined && running.size < atOnce && now - lastTurnAt >= pause) begin(next, now);
    const untilNext = lastTurnAt + pause - now;
    // If all slots are taken, the end of a run triggers the next look.
    timer = setTimeout(look, untilNext > 0 ? Math.min(untilNext, LONGEST_PAUSE_MS) : LONGEST_PAUSE_MS);
    timer.unref();
  }

  function forgetAllBut(present: readonly string[]): void {
    const ids = new Set(present);
    for (const id of turns.keys()) if (!ids.has(id)) turns.delete(id);
  }

  function longestWaiting(ids: readonly string[]): string | undefined {
    const turnOf = (id: string) => turns.get(id) ?? Number.NEGATIVE_INFINITY;
    return ids.reduce<string | undefined>(
      (oldest, id) => (oldest === undefined || turnOf(id) < turnOf(oldest) ? id : oldest),
      undefined,
    );
  }

  function begin(id: string, now: number): void {
    warnIfBehind(now - (turns.get(id) ?? now));
    turns.set(id, now);
    lastTurnAt = now;
    const run = Promise.resolve()
      .then(() => runCron(id))
      .catch((err: unknown) => log.warn({ err, install: id }, 'scheduled tasks of a website failed'))
      .finally(() => {
        running.delete(id);
        look();
      });
    running.set(id, run);
  }

  function warnIfBehind(waitedMs: number): void {
    const isBehind = waitedMs > BEHIND_ROUNDS * everyMs;
    if (isBehind && !wasBehind) {
      log.warn(
        { websites: turns.size, waitedMs },
        'scheduled tasks of all websites take longer than one round; some run late',
      );
    }
    wasBehind = isBehind;
  }

  return {
    start() {
      if (state !== 'new') throw new Error('cron can only be started once');
      state = 'started';
      look();
    },

    late() {
      const since = clock.now().getTime() - BEHIND_ROUNDS * everyMs;
      return [...turns].filter(([id, at]) => at < since && !running.has(id)).length;
    },

    async stop() {
      state = 'stopped';
      clearTimeout(timer);
      await Promise.all(running.values());
    },
  };
}
