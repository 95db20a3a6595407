import type { Caller } from '../../../access/caller.ts';
import type { Transaction } from '../../../database/database.ts';

/** An install that a request deletes; its row is locked. */
export interface DoomedInstall {
  id: string;
  name: string;
  account_id: string;
}

/**
 * Deletes installs in the caller's transaction: their rows and everything that belongs to them at once, their websites by a job each.
 * Cancels their queued jobs and aborts the running ones. Their host names pass to installs that have them as duplicates.
 */
export type DeleteInstalls = (
  transaction: Transaction,
  installs: readonly DoomedInstall[],
  caller: Caller,
) => Promise<void>;
