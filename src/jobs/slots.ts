import type { JobClass } from '../database/tables/jobs.ts';

/** Number of jobs of each class that one worker runs at once. */
export type Slots = Readonly<Record<JobClass, number>>;

export const JOB_CLASSES = ['short', 'long'] as const satisfies readonly JobClass[];

/**
 * Divides `total` slots: a third, but at least one, for long jobs and the rest for short ones. Neither class uses the
 * other's slots, so backups never delay a new install. A total of 1 gives one slot to each class.
 */
export function divideSlots(total: number): Slots {
  const long = Math.max(1, Math.round(total / 3));
  return { long, short: Math.max(1, total - long) };
}

/** Limit on the slots that one share may use: all but one, unless there is only one. */
export function slotsOfOneShare(slots: number): number {
  return Math.max(1, slots - 1);
}
