import { isAllowed, type ResourceAccess } from '../../access/permissions.ts';
import type { Queries, Transaction } from '../../database/database.ts';
import { InvalidRequest, NotFound, notPermitted } from '../../lib/failures.ts';
import type { Actor } from '../../platform/activity-log.ts';
import { findHosted } from '../hosts/store.ts';
import { findRestoreTarget } from './store.ts';

/** A backup to request. */
export interface WantedBackup {
  id: string;
  description: string;
  addresses: readonly string[];
  checkpoint?: boolean;
  /** It counts as a daily one, and is deleted like those. */
  scheduled?: boolean;
  /** It belongs to an operation that has begun, so it is made however many backups wait. */
  hasBegun?: boolean;
}

/** Requests a backup of a locked install and records the author. Returns the operation's id. */
export type EnqueueBackup = (
  transaction: Transaction,
  actor: Actor,
  install: { id: string; account_id: string },
  wanted: WantedBackup,
) => Promise<string>;

/** An install as the target of a restore or a copy of another one, or of itself. Throws NotFound, InvalidRequest. */
export async function requireActiveTarget(queries: Queries, targetId: string, sourceId: string) {
  const target = await findRestoreTarget(queries, targetId);
  if (!target) throw new NotFound();
  if (target.status !== 'active') {
    throw new InvalidRequest(
      `The install "${target.name}" is ${target.status}; only an active one can be restored into.`,
    );
  }
  const source = await findHosted(queries, sourceId);
  // Linux hosts store no runtime, because each of their installs runs WordPress.
  if (source && (source.runtime ?? 'static') !== (target.runtime ?? 'static')) {
    throw new InvalidRequest(
      target.runtime === 'wordpress'
        ? `"${target.name}" runs WordPress, and the website to copy consists of files. Choose an install without WordPress.`
        : `"${target.name}" consists of files, and the website to copy runs WordPress. Choose an install with WordPress.`,
    );
  }
  return target;
}

/** Restores and copies stay within one account, and need the right to work on the target. */
export function requireUsable(
  target: (ResourceAccess & { account_id: string }) | undefined,
  accountId: string,
  { resource, field } = { resource: 'Backup', field: 'into_install_id' },
): void {
  if (target && target.account_id === accountId && isAllowed('install.work', target)) return;
  throw notPermitted(resource, field, 'Choose an install of the same account that you may work on');
}
