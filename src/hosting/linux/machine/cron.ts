import type { Logger } from 'pino';
import type { Clock } from '../../../lib/clock.ts';

/** Runs what websites do of themselves (WordPress' own schedule), so that no visitor has to wait for it. */
export interface Cron {
  start(): void;
  /** Begins no more; resolves once those under way have ended. */
  stop(): Promise<void>;
}

export interface CronOptions {
  /** Does what is due for one website. */
  runCron(installId: string): Promise<void>;
  /** The websites that there are now. */
  installs(): readonly string[];
  clock: Clock;
  log: Logger;
  /** Each website's turn comes once in so many milliseconds: one round. */
  everyMs?: number;
  /** How many run at the same time. */
  atOnce?: number;
}

/** A website that waits for more than so many rounds is behind. */
const BEHIND_ROUNDS = 2;
/** Never longer than this without a look at which websites there are. */
const LONGEST_PAUSE_MS = 10_000;

/**
 * The turns are spread over the round: of `n` websites one begins every `everyMs / n`, the one that has waited longest,
 * new ones first. A website never runs twice at once, and one that fails keeps no other from its turn.
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

  /** Gives the next turn if it is time for it, and looks again when it may be. */
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
    // What is held up by those that run is looked at again when one of them ends.
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
    tellIfBehind(now - (turns.get(id) ?? now));
    turns.set(id, now);
    lastTurnAt = now;
    const run = Promise.resolve()
      .then(() => runCron(id))
      .catch((err: unknown) => log.warn({ err, install: id }, 'the scheduled work of a website failed'))
      .finally(() => {
        running.delete(id);
        look();
      });
    running.set(id, run);
  }

  function tellIfBehind(waitedMs: number): void {
    const isBehind = waitedMs > BEHIND_ROUNDS * everyMs;
    if (isBehind && !wasBehind) {
      log.warn(
        { websites: turns.size, waitedMs },
        'the scheduled work of all websites takes longer than there is time for; some comes late',
      );
    }
    wasBehind = isBehind;
  }

  return {
    start() {
      if (state !== 'new') throw new Error('a cron is started once');
      state = 'started';
      look();
    },

    async stop() {
      state = 'stopped';
      clearTimeout(timer);
      await Promise.all(running.values());
    },
  };
}
