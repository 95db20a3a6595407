import type { Transaction } from '../../../database/database.ts';
import { timestamp } from '../../../lib/clock.ts';
import { DAY_MS } from '../../../lib/durations.ts';
import type { Platform } from '../../../platform/platform.ts';
import type { DoomedInstall } from '../../websites/installs/deletion.ts';
import { newestPresent } from './kept.ts';
import { expireOldest, insertDeleted, readInstall } from './store.ts';

/** Deleted installs of an account whose backups are kept. */
export const MOST_KEPT = 100;

/** How the backups of an install that is being deleted are kept. */
export interface KeptInstall {
  /** The backup to restore: a new one, or with `isMade` the last one. */
  backupId: string;
  isMade: boolean;
}

/**
 * Records what a restore of an install needs. Call it before the rows of the install are deleted. Null if nothing is kept: the
 * platform keeps nothing, or the install has neither a website nor a backup.
 */
export async function keepInstall(
  transaction: Transaction,
  { config, clock, random }: Pick<Platform, 'config' | 'clock' | 'random'>,
  { id, name, account_id }: DoomedInstall,
): Promise<KeptInstall | null> {
  if (config.deletedDays === 0) return null;
  const { queries } = transaction;
  const install = await readInstall(queries, id);
  if (install === undefined) return null;
  const { status, host_id, kept } = install;
  const last = newestPresent(kept) ?? kept.backups.at(-1);
  if (status !== 'active' && last === undefined) return null;
  const isMade = status !== 'active' && last !== undefined;
  const backupId = isMade ? last.id : random.uuid();
  await insertDeleted(queries, {
    ...{ id, account_id, name, host_id, kept },
    state: 'deleting',
    backup_id: backupId,
    reason: null,
    deleted_at: timestamp(clock),
    expires_at: timestamp(clock, config.deletedDays * DAY_MS),
  });
  await expireOldest(queries, account_id, { remaining: MOST_KEPT, now: timestamp(clock) });
  return { backupId, isMade };
}
