import { hasCode } from '../lib/error-code.ts';
import { OperatorError } from '../lib/operator-error.ts';

/** Reasons of the C library, which PostgreSQL's programs print. */
const REASON = /No space left on device|Disk quota exceeded/;

/** Whether a disk or a quota is full. */
export function isNoRoom(error: unknown): boolean {
  return (
    hasCode(error, 'ENOSPC', 'EDQUOT', 'SQLITE_FULL') ||
    (error instanceof OperatorError && REASON.test(error.message))
  );
}
