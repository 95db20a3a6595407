import { type Caller, OPERATOR } from '../../access/caller.ts';
import { authorize } from '../../access/permissions.ts';
import { changeFor } from '../../access/request-transactions.ts';
import type { Queries, Transaction } from '../../database/database.ts';
import { lockRow } from '../../database/lock.ts';
import { InvalidRequest, NotFound } from '../../lib/failures.ts';
import type { Actor } from '../../platform/activity-log.ts';
import type { Platform } from '../../platform/platform.ts';
import type { CapabilityReader } from '../hosts/capabilities.ts';
import { findInstallAccess } from '../websites/installs/store.ts';
import { findWebsite } from '../websites/installs/website-store.ts';
import { type EnqueueBackup, requireActiveTarget, requireUsable } from './copy-target.ts';
import { restoreBackup } from './jobs.ts';
import type { NotificationLimits } from './notification-limits.ts';
import { withNotifications } from './notification-request.ts';
import { EVERYTHING, partsPayload, type ReplacedParts, requireParts } from './replaced-parts.ts';
import { requirePresent } from './require-present.ts';
import { type BackupDetails, findBackupDetails } from './store.ts';

/** A requested restore. */
export interface RequestedRestore {
  jobId: string;
  backup: BackupDetails;
  /** The install to restore into. */
  installName: string;
}

/** How a backup is restored. */
export interface WantedRestore {
  /** Another install of the account; null: the install of the backup. */
  into: string | null;
  parts: ReplacedParts;
  /** Whether the target is backed up first. */
  checkpoint: boolean;
  notification_emails: readonly string[];
}

const FIELDS = { resource: 'Backup', files: 'restore_files', paths: 'paths', tables: 'db_tables' };

/** Requests restores of backups. `enqueueBackup` makes checkpoints; `idOfInstall` finds an install by name or id. */
export function createRestores(
  { database, queue, random, activity }: Platform,
  {
    limits,
    enqueueBackup,
    idOfInstall,
    capabilities,
  }: {
    limits: NotificationLimits;
    enqueueBackup: EnqueueBackup;
    idOfInstall(queries: Queries, text: string, purpose: string): Promise<string>;
    capabilities: Pick<CapabilityReader, 'require'>;
  },
) {
  async function findDetails(queries: Queries, backupId: string): Promise<BackupDetails> {
    const backup = await findBackupDetails(queries, backupId);
    if (!backup) throw new NotFound();
    return backup;
  }

  /** Locks both installs, always in the same order, and so excludes a deletion of the backup at the same time. */
  async function lockBoth(transaction: Transaction, ...ids: string[]): Promise<void> {
    for (const id of [...new Set(ids)].sort()) await lockRow(transaction, 'installs', id);
  }

  /**
   * Requests a restore into a locked install, after everything already requested for it. Throws NotFound, InvalidRequest,
   * RateLimited.
   */
  async function enqueueRestore(
    transaction: Transaction,
    doer: Actor,
    backup: BackupDetails,
    targetId: string,
    { parts, checkpoint, notify }: { parts: ReplacedParts; checkpoint: Caller | null; notify: string[] },
  ): Promise<RequestedRestore> {
    if (backup.status !== 'completed') {
      throw new InvalidRequest(`The backup is ${backup.status}; only a completed one can be restored.`);
    }
    requirePresent(backup);
    if (backup.copy_job_id !== null) {
      throw new InvalidRequest(
        'The backup is made for a copy into another install, and deleted when that has ended. Make a backup of your own.',
      );
    }
    const target = await requireActiveTarget(transaction.queries, targetId, backup.install_id);
    const checkpointId = checkpoint && random.uuid();
    if (checkpointId) {
      await enqueueBackup(
        transaction,
        checkpoint,
        { id: targetId, account_id: target.account_id },
        // Does not name the source, which users of the target may not see.
        { id: checkpointId, description: 'Checkpoint before a restore', addresses: [], checkpoint: true },
      );
    }
    const jobId = await queue.enqueue(transaction, restoreBackup, {
      payload: {
        backup_id: backup.id,
        install_id: targetId,
        from_id: backup.install_id,
        ...(checkpointId ? { checkpoint_id: checkpointId } : {}),
        ...partsPayload(parts),
        ...(notify.length > 0 ? { notify } : {}),
      },
      lane: targetId,
      requestId: doer.origin.requestId,
      result: { backup_id: backup.id, ...(checkpointId ? { checkpoint_id: checkpointId } : {}) },
    });
    await activity.record(transaction, doer, target.account_id, {
      action: 'backup.restore',
      subject: { id: backup.id, name: backup.description },
      installId: targetId,
      details: {
        from: backup.install_name,
        to: target.name,
        ...(parts.files ? {} : { files: false }),
        ...(parts.database ? {} : { database: false }),
        ...(parts.paths === undefined ? {} : { paths: parts.paths.length }),
        ...(parts.tables === null ? {} : { tables: parts.tables.length }),
      },
    });
    return { jobId, backup, installName: target.name };
  }

  return {
    findDetails,

    /**
     * Restores a backup into its install or into another one of the account. Returns the id of the target's operation. Throws
     * NotFound, Forbidden, InvalidRequest; RateLimited for mails to strangers and for unfinished checkpoints.
     */
    async restore(
      caller: Caller,
      installId: string,
      backupId: string,
      { into, parts, checkpoint, notification_emails }: WantedRestore,
    ): Promise<string> {
      const targetId = into?.toLowerCase() ?? installId;
      // Access comes first: a user who may not see the install learns nothing about it.
      const { reader } = database;
      authorize('install.work', 'install.read', await findInstallAccess(reader, caller, installId));
      const website = await findWebsite(reader, { id: installId });
      if (!website) throw new NotFound();
      await requireParts(parts, website, FIELDS, { queries: reader, capabilities });
      return withNotifications({ reader, limits }, caller, installId, notification_emails, (notify) =>
        changeFor(database, caller, async (transaction) => {
          const { queries } = transaction;
          await lockBoth(transaction, installId, targetId);
          const source = await findInstallAccess(queries, caller, installId);
          authorize('install.work', 'install.read', source);
          const backup = await findDetails(queries, backupId);
          if (backup.install_id !== installId) throw new NotFound();
          if (targetId !== installId) {
            requireUsable(await findInstallAccess(queries, caller, targetId), source.account_id);
          }
          const { jobId } = await enqueueRestore(transaction, caller, backup, targetId, {
            parts,
            checkpoint: checkpoint ? caller : null,
            notify: [...notify],
          });
          return jobId;
        }),
      );
    },

    /**
     * For the command line: restores a backup into its install, or into another one by name or id. Throws NotFound,
     * InvalidRequest, CapabilityUnavailable.
     */
    requestRestore: async (
      backupId: string,
      into?: string,
      parts: ReplacedParts = EVERYTHING,
    ): Promise<RequestedRestore> => {
      const { install_id } = await findDetails(database.reader, backupId);
      const website = await findWebsite(database.reader, { id: install_id });
      if (website) await requireParts(parts, website, FIELDS, { queries: database.reader, capabilities });
      return database.write(async (transaction) => {
        const { queries } = transaction;
        const backup = await findDetails(queries, backupId);
        const targetId =
          into === undefined ? backup.install_id : await idOfInstall(queries, into, ' to restore into');
        await lockBoth(transaction, backup.install_id, targetId);
        // Its deletion may have been requested before the lock.
        const present = await findDetails(queries, backupId);
        return enqueueRestore(transaction, OPERATOR, present, targetId, {
          parts,
          checkpoint: null,
          notify: [],
        });
      });
    },
  };
}
