import { hasCode } from './error-code.ts';

/** The messages of the system, of SQLite and of PHP's SQLite. */
const CODES = ['ENOSPC', 'EDQUOT', 'SQLITE_FULL'];
const TEXT = /\bENOSPC\b|No space left on device|database or disk is full/;

/** For people whose work could not be stored. */
export const FULL_DISK = 'The disk of the machine is full, so nothing could be stored.';

/** Causes can be a circle. */
const DEEPEST_CAUSE = 5;

/** Whether an error or one of its causes says that the disk is full. */
export function isFullDisk(error: unknown, depth = 1): boolean {
  if (!(error instanceof Error) || depth > DEEPEST_CAUSE) return false;
  return hasCode(error, ...CODES) || TEXT.test(error.message) || isFullDisk(error.cause, depth + 1);
}
