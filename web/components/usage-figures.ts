import { formatBytes } from './bytes.ts';

const numbers = new Intl.NumberFormat('en');

/** A count in decimal digits: "48,211". A dash if it was not measured. */
export function formatCount(count: string | null): string {
  return count === null ? '–' : numbers.format(Number(count));
}

/** A number of bytes in decimal digits: "1.4 MB". A dash if it was not measured. */
export function formatByteCount(count: string | null): string {
  return count === null ? '–' : formatBytes(Number(count));
}

/** A number beside its limit: "12 of 1,000 (1 %)". Rounded down, so that 100 % is reached and not nearly reached. */
export function ofLimit(
  used: string | null,
  limit: number | null,
  format: (count: string | null) => string,
): string {
  if (limit === null) return format(used);
  const percent = limit === 0 ? '' : ` (${Math.floor((Number(used ?? 0) / limit) * 100)} %)`;
  return `${format(used ?? '0')} of ${format(String(limit))}${percent}`;
}

/** Files and database together; null if neither was measured. */
export function storedBytes(files: string | null, database: string | null): string | null {
  if (files === null && database === null) return null;
  return String(Number(files ?? 0) + Number(database ?? 0));
}

/** The first day of the month of a time, in UTC. */
export function monthOf(time: Date): string {
  return `${time.toISOString().slice(0, 7)}-01`;
}

const WARNED_PERCENT = 80;

/** The limits of which at least 80 % are used, with the used part in percent, rounded down. */
export function reachedLimits(
  figures: readonly (readonly [name: string, used: string | null, limit: number | null])[],
): { name: string; percent: number }[] {
  return figures.flatMap(([name, used, limit]) => {
    const percent = limit === null || limit === 0 ? 0 : Math.floor((Number(used ?? 0) / limit) * 100);
    return percent < WARNED_PERCENT ? [] : [{ name, percent }];
  });
}
