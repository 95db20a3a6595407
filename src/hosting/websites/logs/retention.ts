import { DAY_MS } from '../../../lib/durations.ts';
import { compareSegments, type Segment } from './segments.ts';

export interface StoredSegment extends Segment {
  /** On the disk. */
  bytes: number;
}

/** The first day whose entries are kept; today counts. */
export function oldestKeptDay(now: Date, days: number): string {
  return new Date(now.getTime() - (days - 1) * DAY_MS).toISOString().slice(0, 10);
}

/**
 * The segments to delete: those of earlier days, and the oldest ones of the largest log until the rest fits. A flood of requests so
 * cannot remove the errors of PHP. The newest segment of each log stays.
 */
export function segmentsToDelete(
  segments: readonly StoredSegment[],
  { oldest, mostBytes }: { oldest: string; mostBytes: number },
): StoredSegment[] {
  const gone = segments.filter(({ day }) => day < oldest);
  const logs = Map.groupBy(
    segments.filter(({ day }) => day >= oldest).toSorted(compareSegments),
    ({ kind }) => kind,
  );
  const sizeOf = (log: readonly StoredSegment[]) => log.reduce((sum, { bytes }) => sum + bytes, 0);
  for (;;) {
    const all = [...logs.values()];
    if (all.reduce((sum, log) => sum + sizeOf(log), 0) <= mostBytes) return gone;
    const largest = all
      .filter((log) => log.length > 1)
      .toSorted((one, other) => sizeOf(other) - sizeOf(one))[0];
    const first = largest?.shift();
    if (first === undefined) return gone;
    gone.push(first);
  }
}
