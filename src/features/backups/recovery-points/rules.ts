import { DAY_MS, MINUTE_MS } from '../../../lib/durations.ts';
import type { Point } from './store.ts';

/** Rules: recovery points that are kept, the base of a new one, and the time when an install is due. */

/** The recovery points of an install that are kept, without their bases. */
const KEPT = 12;

/**
 * Ids to keep, beside a new point: the newest ones since the last daily backup, and the newest of all, with what they are based on. `points`:
 * newest first. `backedUpAt`: when the newest daily backup was requested.
 */
export function keptPoints(points: readonly Point[], backedUpAt: string | null): Set<string> {
  const kept = points
    // The new one replaces one of them.
    .slice(0, KEPT - 1)
    .filter(({ taken_at }, index) => index === 0 || backedUpAt === null || taken_at >= backedUpAt);
  return new Set(kept.flatMap(({ id, base_id }) => (base_id === null ? [id] : [id, base_id])));
}

/** A base is used for a day, so that what changed since does not grow for ever. */
const BASE_MS = DAY_MS;

/** The newest point with all files, while it is new enough for another point; null: that one has all files itself. */
export function baseOf(points: readonly Point[], now: Date): string | null {
  const [newest] = points;
  const base = points.find(({ id }) => id === (newest?.base_id ?? newest?.id));
  if (base === undefined || now.getTime() - Date.parse(base.taken_at) >= BASE_MS) return null;
  return base.id;
}

/** Time between two looks at an install. A minute is left for the work. */
export const periodMs = (minutes: number): number => Math.max(1, minutes - 1) * MINUTE_MS;

/** An install that is covered for longer than this ago is late. */
export const lateMs = (minutes: number): number => 2 * minutes * MINUTE_MS;
