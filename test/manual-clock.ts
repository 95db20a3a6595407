import type { Clock } from '../src/lib/clock.ts';

/** A clock that moves only on request. */
export interface ManualClock extends Clock {
  /** Moves the clock forward by `ms` milliseconds. */
  advance(ms: number): void;
}

export function manualClock(start = new Date('2026-01-01T00:00:00.000Z')): ManualClock {
  let at = start.getTime();
  return {
    now: () => new Date(at),
    advance: (ms) => {
      at += ms;
    },
  };
}
