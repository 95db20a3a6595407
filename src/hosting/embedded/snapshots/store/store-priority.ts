import { getPriority, setPriority } from 'node:os';

/**
 * The niceness of the thread that makes and restores backups. Beside a busy page, it gets a third of the page's time. With more niceness,
 * backups of a busy host would exceed their time.
 */
export const STORE_NICENESS = 5;

/** Lowers the priority of the calling thread. Only Linux has one for each thread. */
export function giveWay(): void {
  // 0 is the calling thread. Without rights, a thread of a nicer process could not return to this value.
  if (process.platform === 'linux' && getPriority(0) < STORE_NICENESS) setPriority(0, STORE_NICENESS);
}
