export interface Backoff {
  firstMs: number;
  longestMs: number;
  /** What ran so long was well: its next failure counts as the first. */
  healthyMs: number;
}

export const RESTARTS: Backoff = { firstMs: 200, longestMs: 30_000, healthyMs: 60_000 };

/** How long to wait before the next start, in milliseconds: `previous` is what was waited before this run, null for the first run. */
export function restartDelay(backoff: Backoff, previous: number | null, ranMs: number): number {
  if (previous === null || ranMs >= backoff.healthyMs) return backoff.firstMs;
  return Math.min(previous * 2, backoff.longestMs);
}
