import type { BigIntStats } from 'node:fs';

/** Files up to this size are read in one piece and verified before any of their bytes are archived. */
export const SMALL_BYTES = 256 * 1024;
/** Files up to this size are stored without passing through the main thread. */
export const TAKEN_BYTES = 4 * 1024 * 1024;

/** File system timestamps advance in steps of up to 10 ms, so two changes in one step look like one. */
export const STAMP_STEP_MS = 50;
const SETTLED_MS = 2_000;

export function isSameState(a: BigIntStats, b: BigIntStats): boolean {
  return a.size === b.size && a.mtimeNs === b.mtimeNs && a.ctimeNs === b.ctimeNs;
}

/** Whether every write after `seenMs` changes the state of the file. Some file systems have times in seconds. */
export function isSettled(stats: BigIntStats, seenMs: number): boolean {
  return seenMs - Number(stats.ctimeMs) >= SETTLED_MS;
}

/** Whether the file was changed at `seenMs` or later, or so shortly before that a later change can have the same time. */
export function hasChangedSince(stats: BigIntStats, seenMs: number): boolean {
  return seenMs - Number(stats.ctimeMs) < STAMP_STEP_MS;
}
