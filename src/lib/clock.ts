/** The source of time. Always a parameter, so that tests set the time instead of sleeping. */
export interface Clock {
  now(): Date;
}

export const systemClock: Clock = { now: () => new Date() };

/** The current time as Homeport stores and sends it: ISO 8601 in UTC with milliseconds. */
export function timestamp(clock: Clock, offsetMs = 0): string {
  return new Date(clock.now().getTime() + offsetMs).toISOString();
}
