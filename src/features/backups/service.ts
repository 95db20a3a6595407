import { type Caller, OPERATOR } from '../../access/caller.ts';
import { authorize, isAllowed, type ResourceAccess } from '../../access/permissions.ts';
import type { Queries, Transaction } from '../../database/database.ts';
import { lockRow } from '../../database/lock.ts';
import { timestamp } from '../../lib/clock.ts';
import { InvalidRequest, NotFound, notPermitted, RateLimited } from '../../lib/failures.ts';
import { parseUuid } from '../../lib/ids.ts';
import type { WithOperation } from '../../lib/operation.ts';
import type { PageOf, PageRequest } from '../../lib/page.ts';
import type { Actor } from '../../platform/activity-log.ts';
import type { Platform } from '../../platform/platform.ts';
import { findInstallAccess } from '../websites/installs/store.ts';
import { findInstallId, findInstallRef } from '../websites/installs/website-store.ts';
import { setCopyJob } from './copy-store.ts';
import { copiesLane, createBackup, prepareCopy, restoreBackup } from './jobs.ts';
import type { NotificationLimits } from './notification-limits.ts';
import { nonMembers, withoutDuplicates } from './notification-recipients.ts';
import {
  allBackups,
  type BackupDetails,
  type BackupView,
  countUnfinished,
  findBackup,
  findBackupDetails,
  findRestoreTarget,
  insertBackup,
  type ListedBackup,
  pageOfBackups,
} from './store.ts';

/** A requested restore. */
export interface RequestedRestore {
  jobId: string;
  backup: BackupDetails;
  /** The install to restore into. */
  installName: string;
}

/** A backup in the portal's list. */
export interface BackupOfInstall extends Omit<ListedBackup, 'copy_job_id'> {
  /** Made for a copy into another install, and deleted after it. */
  for_copy: boolean;
}

interface WantedBackup {
  id: string;
  description: string;
  addresses: readonly string[];
}

export type BackupService = ReturnType<typeof createBackupService>;

/** Limit on unfinished backups of one install, which run one after the other. */
const MOST_UNFINISHED = 20;
const LOOK_AGAIN_SECONDS = 60;

export function createBackupService(
  { database, queue, clock, random, activity }: Platform,
  limits: NotificationLimits,
) {
  const { reader } = database;

  async function findDetails(queries: Queries, backupId: string): Promise<BackupDetails> {
    const backup = await findBackupDetails(queries, backupId);
    if (!backup) throw new NotFound();
    return backup;
  }

  /** Finds an install by name or id. `purpose` follows "There is no install …" in the error. Throws InvalidRequest. */
  async function idOfInstall(queries: Queries, text: string, purpose = ''): Promise<string> {
    const id = parseUuid(text);
    const known =
      (await findInstallId(queries, text)) ??
      (id === undefined ? undefined : (await findInstallRef(queries, id))?.id);
    if (known !== undefined) return known;
    throw new InvalidRequest(
      `There is no install "${text}"${purpose}; "homeport install list" shows them all.`,
    );
  }

  /** Requests a backup of a locked install and records the author. Returns the operation's id. */
  async function enqueueBackup(
    transaction: Transaction,
    caller: Caller,
    install: { id: string; account_id: string },
    { id, description, addresses }: WantedBackup,
  ): Promise<string> {
    await requireFewUnfinished(transaction.queries, install.id);
    await insertBackup(transaction.queries, {
      id,
      install_id: install.id,
      description,
      notification_emails: addresses,
      requested_by: caller.userId,
      scheduled: false,
      created_at: timestamp(clock),
    });
    const operationId = await queue.enqueue(transaction, createBackup, {
      payload: { backup_id: id, install_id: install.id },
      lane: install.id,
      requestId: caller.origin.requestId,
      result: { backup_id: id },
    });
    await activity.record(transaction, caller, install.account_id, {
      action: 'backup.create',
      subject: { id, name: description },
      installId: install.id,
    });
    return operationId;
  }

  /** Requests a restore, after everything already requested for the target. Throws NotFound, InvalidRequest. */
  async function enqueueRestore(
    transaction: Transaction,
    doer: Actor,
    backup: BackupDetails,
    targetId: string,
  ): Promise<RequestedRestore> {
    if (backup.status !== 'completed') {
      throw new InvalidRequest(`The backup is ${backup.status}; only a completed one can be restored.`);
    }
    if (backup.copy_job_id !== null) {
      throw new InvalidRequest(
        'The backup is made for a copy into another install, and deleted when that has ended. Make a backup of your own.',
      );
    }
    await lockRow(transaction, 'installs', targetId);
    const target = await requireActiveTarget(transaction.queries, targetId);
    const jobId = await queue.enqueue(transaction, restoreBackup, {
      payload: { backup_id: backup.id, install_id: targetId, from_id: backup.install_id },
      lane: targetId,
      requestId: doer.origin.requestId,
      result: { backup_id: backup.id },
    });
    await activity.record(transaction, doer, target.account_id, {
      action: 'backup.restore',
      subject: { id: backup.id, name: backup.description },
      installId: targetId,
      details: { from: backup.install_name, to: target.name },
    });
    return { jobId, backup, installName: target.name };
  }

  return {
    /**
     * Requests a backup. Returns it with the operation's id. Throws NotFound, Forbidden; RateLimited for mails to strangers
     * and for unfinished backups.
     */
    async request(
      caller: Caller,
      installId: string,
      input: { description: string; notification_emails: string[] },
    ): Promise<WithOperation<BackupView>> {
      // Access comes first: a user who may not see the install learns nothing about it and stores nothing.
      authorize('install.work', 'install.read', await findInstallAccess(reader, caller, installId));
      const id = random.uuid();
      const description = input.description.trim();
      const addresses = withoutDuplicates(input.notification_emails);
      const strangers = await nonMembers(reader, installId, addresses);
      const counted = await limits.strangers(caller.userId, strangers);
      const inserted = database.write(async (transaction) => {
        const { queries } = transaction;
        await lockRow(transaction, 'installs', installId);
        const install = await findInstallAccess(queries, caller, installId);
        authorize('install.work', 'install.read', install);
        return enqueueBackup(transaction, caller, install, { id, description, addresses });
      });
      const operationId = await inserted.catch((error: unknown) => {
        counted.refused();
        throw error;
      });
      return { id, status: 'requested', operationId };
    },

    async get(caller: Caller, installId: string, backupId: string): Promise<BackupView> {
      authorize('install.read', 'install.read', await findInstallAccess(reader, caller, installId));
      const backup = await findBackup(reader, installId, backupId);
      if (!backup) throw new NotFound();
      return backup;
    },

    /** Newest first. Throws NotFound. */
    async list(caller: Caller, installId: string, page: PageRequest): Promise<PageOf<BackupOfInstall>> {
      authorize('install.read', 'install.read', await findInstallAccess(reader, caller, installId));
      const { count, results } = await pageOfBackups(reader, installId, page);
      return {
        count,
        results: results.map(({ copy_job_id, ...backup }) => ({ ...backup, for_copy: copy_job_id !== null })),
      };
    },

    /**
     * Restores a backup into its install, or into another install of the account (`intoInstallId`). Returns the id of
     * the target's operation. Throws NotFound, Forbidden, InvalidRequest.
     */
    async restore(
      caller: Caller,
      installId: string,
      backupId: string,
      intoInstallId: string | null,
    ): Promise<string> {
      const targetId = intoInstallId?.toLowerCase() ?? installId;
      const { jobId } = await database.write(async (transaction) => {
        const { queries } = transaction;
        const source = await findInstallAccess(queries, caller, installId);
        authorize('install.work', 'install.read', source);
        const backup = await findDetails(queries, backupId);
        if (backup.install_id !== installId) throw new NotFound();
        if (targetId !== installId) {
          requireUsable(await findInstallAccess(queries, caller, targetId), source.account_id);
        }
        return enqueueRestore(transaction, caller, backup, targetId);
      });
      return jobId;
    },

    /**
     * Copies an install into another one of the account: makes a backup, restores it into the target once complete, and
     * deletes it unless `keepBackup`. Returns the id of the target's operation. Throws NotFound, Forbidden,
     * InvalidRequest; RateLimited for unfinished backups.
     */
    async copy(
      caller: Caller,
      installId: string,
      { into, keepBackup }: { into: string; keepBackup: boolean },
    ): Promise<string> {
      const backupId = random.uuid();
      const targetId = into.toLowerCase();
      return database.write(async (transaction) => {
        const { queries } = transaction;
        // Always in the same order, so copies in both directions cannot deadlock.
        for (const id of [installId, targetId].sort()) await lockRow(transaction, 'installs', id);
        const source = await findInstallAccess(queries, caller, installId);
        authorize('install.work', 'install.read', source);
        requireUsable(await findInstallAccess(queries, caller, targetId), source.account_id);
        if (targetId === installId) throw new InvalidRequest('An install is not copied into itself.');
        const target = await requireActiveTarget(queries, targetId);
        // Does not name the target, which users of this install may not see.
        const description = 'Copy into another install';
        await enqueueBackup(transaction, caller, source, { id: backupId, description, addresses: [] });
        const jobId = await queue.enqueue(transaction, prepareCopy, {
          payload: { backup_id: backupId, install_id: targetId, from_id: installId },
          lane: copiesLane(targetId),
          install: targetId,
          requestId: caller.origin.requestId,
          ...(keepBackup ? { result: { backup_id: backupId } } : {}),
        });
        if (!keepBackup) await setCopyJob(queries, backupId, jobId);
        await activity.record(transaction, caller, source.account_id, {
          action: 'install.copy',
          subject: { id: installId, name: source.name },
          installId: targetId,
          details: { to: target.name, backup_kept: keepBackup },
        });
        return jobId;
      });
    },

    /** For the command line: backups of one install (by name or id) or of all, newest first. Throws InvalidRequest. */
    listAll: async (install?: string): Promise<BackupDetails[]> =>
      allBackups(reader, install === undefined ? undefined : await idOfInstall(reader, install)),

    /** For the command line: any backup. Throws NotFound. */
    find: (backupId: string) => findDetails(reader, backupId),

    /**
     * For the command line: restores a backup into its install, or into another one by name or id. Throws NotFound,
     * InvalidRequest.
     */
    requestRestore: (backupId: string, into?: string): Promise<RequestedRestore> =>
      database.write(async (transaction) => {
        const { queries } = transaction;
        const backup = await findDetails(queries, backupId);
        const targetId =
          into === undefined ? backup.install_id : await idOfInstall(queries, into, ' to restore into');
        return enqueueRestore(transaction, OPERATOR, backup, targetId);
      }),
  };
}

/** An install as a restore target. Throws NotFound, InvalidRequest. */
async function requireActiveTarget(queries: Queries, targetId: string) {
  const target = await findRestoreTarget(queries, targetId);
  if (!target) throw new NotFound();
  if (target.status === 'active') return target;
  throw new InvalidRequest(
    `The install "${target.name}" is ${target.status}; only an active one can be restored into.`,
  );
}

async function requireFewUnfinished(queries: Queries, installId: string): Promise<void> {
  if ((await countUnfinished(queries, installId)) < MOST_UNFINISHED) return;
  throw new RateLimited(
    LOOK_AGAIN_SECONDS,
    `${MOST_UNFINISHED} backups of this install are being made or wait already - please wait until one is finished`,
  );
}

/** Restores stay within one account, and need the right to work on the target. */
function requireUsable(
  target: (ResourceAccess & { account_id: string }) | undefined,
  accountId: string,
): void {
  if (target && target.account_id === accountId && isAllowed('install.work', target)) return;
  throw notPermitted(
    'Backup',
    'into_install_id',
    'Choose an install of the same account that you may work on',
  );
}
