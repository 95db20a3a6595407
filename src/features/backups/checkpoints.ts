import type { Queries, Transaction } from '../../database/database.ts';
import { PermanentFailure } from '../../jobs/job.ts';
import type { Platform } from '../../platform/platform.ts';
import { restoreBackup } from './jobs.ts';
import { findBackup } from './store.ts';

/** The checkpoint in the payload of a job that replaces a website. */
export interface Replacement {
  /** The replaced install. */
  install_id: string;
  checkpoint_id?: string;
  files?: boolean;
  paths?: string[];
  database?: boolean;
  tables?: string[];
  /** The WordPress that the website gets again. */
  wordpress_version?: string;
}

/**
 * Requires that the checkpoint is completed, if there is one: a replacement without it could lose the present website. The
 * checkpoint's job ran before, in the same lane. Throws PermanentFailure.
 */
export async function requireCheckpoint(
  queries: Queries,
  { install_id, checkpoint_id }: Replacement,
  work: 'restored' | 'replaced',
): Promise<void> {
  if (checkpoint_id === undefined) return;
  if ((await findBackup(queries, install_id, checkpoint_id))?.status === 'completed') return;
  throw new PermanentFailure(
    `The checkpoint could not be made, so nothing was ${work}. The list of backups says why. A damaged website can be ${work} without a checkpoint.`,
    { code: 'checkpoint_failed' },
  );
}

/** Attempts at the return to a checkpoint while the host refuses it: for more than an hour, because everything else of the install waits for it. */
export const RETURN_ATTEMPTS = 24;

/**
 * Requests the restore of the checkpoint after failed work on a website, but only of the parts that were to be replaced. It runs before
 * anything else that waits for the install, and so undoes nothing of that. False if there is nothing to restore.
 */
export async function putCheckpointBack(
  { queue }: Pick<Platform, 'queue'>,
  transaction: Transaction,
  { install_id, checkpoint_id, files, paths, database, tables, wordpress_version }: Replacement,
): Promise<boolean> {
  if (checkpoint_id === undefined) return false;
  const { queries } = transaction;
  const checkpoint = await findBackup(queries, install_id, checkpoint_id);
  if (checkpoint?.status !== 'completed') return false;
  await queue.enqueue(transaction, restoreBackup, {
    payload: {
      backup_id: checkpoint_id,
      install_id,
      ...(files === undefined ? {} : { files }),
      ...(paths === undefined ? {} : { paths }),
      ...(database === undefined ? {} : { database }),
      ...(tables === undefined ? {} : { tables }),
      ...(wordpress_version === undefined ? {} : { wordpress_version }),
      puts_back: true,
    },
    lane: install_id,
    ahead: true,
    maxAttempts: RETURN_ATTEMPTS,
    result: { backup_id: checkpoint_id },
  });
  return true;
}
