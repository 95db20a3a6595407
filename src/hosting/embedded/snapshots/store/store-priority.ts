import { getPriority, setPriority } from 'node:os';
import { hasCode } from '../../../../lib/error-code.ts';

/**
 * The niceness of the thread that makes and restores backups. Beside a busy page, it gets a third of the page's time. With more niceness,
 * backups of a busy host would exceed their time.
 */
export const STORE_NICENESS = 5;

/** Lowers the priority of the calling thread. Only Linux has one for each thread. */
export function giveWay(set = setPriority): void {
  if (process.platform !== 'linux') return;
  try {
    // 0 is the calling thread. Without rights, a thread of a nicer process could not return to this value.
    if (getPriority(0) < STORE_NICENESS) set(0, STORE_NICENESS);
  } catch (error) {
    // A container or service may forbid the system call. Backups are then made beside pages as equals.
    if (!hasCode(error, 'ERR_SYSTEM_ERROR')) throw error;
  }
}
