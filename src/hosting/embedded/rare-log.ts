import type { Clock } from '../../lib/clock.ts';
import { MINUTE_MS } from '../../lib/durations.ts';

/** Calls `write` unless it did so for the same key within a minute. `write` gets the number of calls that were left out since. */
export type RareLog = (key: string, write: (leftOut: number) => void) => void;

/** For events that visitors or a website can cause as often as they like. */
export function createRareLog(clock: Clock): RareLog {
  const written = new Map<string, { atMs: number; leftOut: number }>();
  return (key, write) => {
    const nowMs = clock.now().getTime();
    const last = written.get(key);
    if (last !== undefined && nowMs - last.atMs < MINUTE_MS) {
      last.leftOut += 1;
      return;
    }
    written.set(key, { atMs: nowMs, leftOut: 0 });
    write(last?.leftOut ?? 0);
  };
}
