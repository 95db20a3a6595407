/** Where time comes from. A parameter everywhere, so that tests move it by hand instead of sleeping. */
export interface Clock {
  now(): Date;
}

export const systemClock: Clock = { now: () => new Date() };

/** A clock that stands still until it is told to move; for tests. */
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

/** The present as Homeport stores and sends it: ISO 8601 in UTC with milliseconds. */
export function timestamp(clock: Clock, offsetMs = 0): string {
  return new Date(clock.now().getTime() + offsetMs).toISOString();
}
