import { MINUTE_MS, SECOND_MS } from '../../lib/durations.ts';

const LEAST_MS = 10 * MINUTE_MS;
/** Slow, because a disk does other things too. Each byte is written and read back in this time. */
const BYTES_PER_SECOND = 10 * 1024 ** 2;

/** How long a backup of so many bytes may take. */
export function backupTimeMs(bytes: number): number {
  return LEAST_MS + Math.ceil(bytes / BYTES_PER_SECOND) * SECOND_MS;
}

/** Runs `work` with a signal that also aborts after `limitMs`; the error then names the limit. */
export async function withinBackupTime<T>(
  limitMs: number,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const late = new AbortController();
  const minutes = Math.ceil(limitMs / MINUTE_MS);
  const timer = setTimeout(
    () => late.abort(new Error(`The backup took longer than ${minutes} min, the limit for its size.`)),
    limitMs,
  );
  try {
    return await work(signal === undefined ? late.signal : AbortSignal.any([signal, late.signal]));
  } finally {
    clearTimeout(timer);
  }
}
