export interface Backoff {
  firstMs: number;
  longestMs: number;
  /** A failure after a run this long counts as the first one. */
  healthyMs: number;
}

export const RESTARTS: Backoff = { firstMs: 200, longestMs: 30_000, healthyMs: 60_000 };

/** Milliseconds to wait before the next start. `previous` is the wait before this run, null for the first run. */
export function restartDelay(backoff: Backoff, previous: number | null, ranMs: number): number {
  if (previous === null || ranMs >= backoff.healthyMs) return backoff.firstMs;
  return Math.min(previous * 2, backoff.longestMs);
}
