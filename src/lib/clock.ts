/** Where time comes from. A parameter everywhere, so that tests move it by hand instead of sleeping. */
export interface Clock {
  now(): Date;
}

export const systemClock: Clock = { now: () => new Date() };

/** The present as Homeport stores and sends it: ISO 8601 in UTC with milliseconds. */
export function timestamp(clock: Clock, offsetMs = 0): string {
  return new Date(clock.now().getTime() + offsetMs).toISOString();
}
