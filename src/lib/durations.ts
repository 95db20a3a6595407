/** Lengths of time in milliseconds: the unit of timers, of `Date` and of every name that ends in `_MS`. */
export const SECOND_MS = 1000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** The same in seconds: the unit of what HTTP says (`Retry-After`, `RateLimit-Reset`) and of the windows of limits. */
export const MINUTE_SECONDS = 60;
export const HOUR_SECONDS = 60 * MINUTE_SECONDS;
export const DAY_SECONDS = 24 * HOUR_SECONDS;
