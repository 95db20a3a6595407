import Type from 'typebox';
import { Value } from 'typebox/value';
import { type Caller, storedUserOf } from '../../access/caller.ts';
import { authorize } from '../../access/permissions.ts';
import { changeFor, readerFor } from '../../access/request-transactions.ts';
import type { Queries, Transaction } from '../../database/database.ts';
import { lockRow } from '../../database/lock.ts';
import { timestamp } from '../../lib/clock.ts';
import { Conflict, InvalidRequest, NotFound, RateLimited } from '../../lib/failures.ts';
import { parseUuid } from '../../lib/ids.ts';
import type { WithOperation } from '../../lib/operation.ts';
import type { PageOf, PageRequest } from '../../lib/page.ts';
import type { Actor } from '../../platform/activity-log.ts';
import type { Platform } from '../../platform/platform.ts';
import type { CapabilityReader } from '../hosts/capabilities.ts';
import { findInstallAccess } from '../websites/installs/store.ts';
import { findInstallId, findInstallRef } from '../websites/installs/website-store.ts';
import { isInUse, isOfRunningUpdate } from './backup-uses-store.ts';
import { createCopies } from './copies.ts';
import type { WantedBackup } from './copy-target.ts';
import { createBackup, discardBackup } from './jobs.ts';
import type { NotificationLimits } from './notification-limits.ts';
import { withNotifications } from './notification-request.ts';
import { createRestores } from './restores.ts';
import { expiryOf } from './retention.ts';
import {
  allBackups,
  type BackupDetails,
  type BackupView,
  countUnfinished,
  findBackup,
  findRequested,
  insertBackup,
  type ListedBackup,
  markDeleting,
  pageOfBackups,
  pageOfSeenBackups,
  type SeenBackup,
  UNFINISHED,
} from './store.ts';

/** A backup in the portal's list. */
export interface BackupOfInstall extends Omit<ListedBackup, 'copy_job_id'> {
  /** Made for a copy into another install, and deleted after it. */
  for_copy: boolean;
  expires_at: string | null;
}

/** A backup with the time from which it may be deleted; null: never automatically. */
export type KeptBackup = SeenBackup & { expires_at: string | null };

export type BackupService = ReturnType<typeof createBackupService>;

const addresses = Type.Array(Type.String());

/** Limit on unfinished backups of one install, which run one after the other. */
const MOST_UNFINISHED = 20;
const LOOK_AGAIN_SECONDS = 60;

export function createBackupService(
  platform: Platform,
  limits: NotificationLimits,
  capabilities: Pick<CapabilityReader, 'require'>,
) {
  const { config, database, queue, clock, random, activity } = platform;
  const { reader } = database;

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

  async function enqueueBackup(
    transaction: Transaction,
    actor: Actor,
    install: { id: string; account_id: string },
    { id, description, addresses, checkpoint = false, scheduled = false, hasBegun = false }: WantedBackup,
  ): Promise<string> {
    if (!hasBegun) await requireFewUnfinished(transaction.queries, install.id);
    await insertBackup(transaction.queries, {
      id,
      install_id: install.id,
      description,
      notification_emails: addresses,
      requested_by: storedUserOf(actor),
      scheduled,
      checkpoint,
      created_at: timestamp(clock),
    });
    const operationId = await queue.enqueue(transaction, createBackup, {
      payload: { backup_id: id, install_id: install.id },
      lane: install.id,
      requestId: actor.origin.requestId,
      result: { backup_id: id },
    });
    await activity.record(transaction, actor, install.account_id, {
      action: 'backup.create',
      subject: { id, name: description },
      installId: install.id,
    });
    return operationId;
  }

  const { findDetails, restore, requestRestore } = createRestores(platform, {
    limits,
    enqueueBackup,
    idOfInstall,
    capabilities,
  });
  const kept = (backup: SeenBackup): KeptBackup => ({ ...backup, expires_at: expiryOf(backup, config) });

  /** Requests a backup of an install that the caller may work on. Throws NotFound, Forbidden, RateLimited. */
  async function requestBackup(
    caller: Caller,
    installId: string,
    { emails, ...wanted }: Omit<WantedBackup, 'id' | 'addresses'> & { emails: readonly string[] },
  ): Promise<{ id: string; operationId: string }> {
    // Access comes first: a user who may not see the install learns nothing about it and stores nothing.
    authorize('install.work', 'install.read', await findInstallAccess(reader, caller, installId));
    const id = random.uuid();
    const operationId = await withNotifications({ reader, limits }, caller, installId, emails, (addresses) =>
      changeFor(database, caller, async (transaction) => {
        const { queries } = transaction;
        await lockRow(transaction, 'installs', installId);
        const install = await findInstallAccess(queries, caller, installId);
        authorize('install.work', 'install.read', install);
        return enqueueBackup(transaction, caller, install, { id, addresses, ...wanted });
      }),
    );
    return { id, operationId };
  }

  return {
    /** For services of other folders that need checkpoints. */
    enqueueBackup,
    restore,
    requestRestore,
    ...createCopies(platform, { limits, enqueueBackup, idOfInstall, capabilities }),

    /**
     * Requests a backup. Returns it with the operation's id. Throws NotFound, Forbidden; RateLimited for mails to strangers
     * and for unfinished backups.
     */
    async request(
      caller: Caller,
      installId: string,
      input: { description: string; notification_emails: string[] },
    ): Promise<WithOperation<BackupView>> {
      const description = input.description.trim();
      const made = await requestBackup(caller, installId, { description, emails: input.notification_emails });
      return { ...made, status: 'requested' };
    },

    /** Makes a backup again that was aborted. Returns the operation's id. Throws NotFound, Forbidden, Conflict, RateLimited. */
    async repeat(caller: Caller, installId: string, backupId: string): Promise<string> {
      authorize('install.work', 'install.read', await findInstallAccess(reader, caller, installId));
      const aborted = await findRequested(reader, installId, backupId);
      if (aborted === undefined) throw new Conflict('The backup was deleted. Request a new one.');
      if (aborted.checkpoint || aborted.copy_job_id !== null) {
        throw new Conflict('The backup was a part of other work. Repeat that work.');
      }
      const { description, notification_emails, scheduled } = aborted;
      const wanted = { description, emails: Value.Parse(addresses, notification_emails), scheduled };
      return (await requestBackup(caller, installId, wanted)).operationId;
    },

    async get(caller: Caller, installId: string, backupId: string): Promise<KeptBackup> {
      const queries = readerFor(database, caller);
      authorize('install.read', 'install.read', await findInstallAccess(queries, caller, installId));
      const backup = await findBackup(queries, installId, backupId);
      if (!backup) throw new NotFound();
      return kept(backup);
    },

    /** Oldest first. Throws NotFound. */
    async page(caller: Caller, installId: string, page: PageRequest): Promise<PageOf<KeptBackup>> {
      authorize('install.read', 'install.read', await findInstallAccess(reader, caller, installId));
      const { count, results } = await pageOfSeenBackups(reader, installId, page);
      return { count, results: results.map(kept) };
    },

    /** For the portal, newest first. Throws NotFound. */
    async list(caller: Caller, installId: string, page: PageRequest): Promise<PageOf<BackupOfInstall>> {
      authorize('install.read', 'install.read', await findInstallAccess(reader, caller, installId));
      const { count, results } = await pageOfBackups(reader, installId, page);
      return {
        count,
        results: results.map(({ copy_job_id, ...backup }) => ({
          ...backup,
          for_copy: copy_job_id !== null,
          expires_at: expiryOf(backup, config),
        })),
      };
    },

    /**
     * Deletes a backup: it is gone for users at once, and a job deletes its data. Throws NotFound, Forbidden; Conflict while
     * the backup is being made, restored, copied or packed, or an update needs it.
     */
    async remove(caller: Caller, installId: string, backupId: string): Promise<void> {
      await changeFor(database, caller, async (transaction) => {
        const { queries } = transaction;
        // Restores and archives lock it too, so none begins to use the backup meanwhile.
        await lockRow(transaction, 'installs', installId);
        const install = await findInstallAccess(queries, caller, installId);
        authorize('install.work', 'install.read', install);
        const backup = await findBackup(queries, installId, backupId);
        if (!backup) throw new NotFound();
        if (UNFINISHED.includes(backup.status)) {
          throw new Conflict('The backup is being made. Delete it once it has finished.');
        }
        if (await isInUse(queries, backupId)) {
          throw new Conflict('The backup is being restored, copied or packed. Delete it after that.');
        }
        if (await isOfRunningUpdate(queries, backupId)) {
          throw new Conflict('An update of WordPress needs this checkpoint. Delete it after that.');
        }
        await markDeleting(queries, backupId);
        await queue.enqueue(transaction, discardBackup, {
          payload: { backup_id: backupId, install_id: installId },
          lane: installId,
          requestId: caller.origin.requestId,
          operation: 'backup.delete',
        });
        await activity.record(transaction, caller, install.account_id, {
          action: 'backup.delete',
          subject: { id: backupId, name: backup.description },
          installId,
        });
      });
    },

    /** For the command line: backups of one install (by name or id) or of all, newest first. Throws InvalidRequest. */
    listAll: async (install?: string): Promise<BackupDetails[]> =>
      allBackups(reader, install === undefined ? undefined : await idOfInstall(reader, install)),

    /** For the command line: any backup. Throws NotFound. */
    find: (backupId: string) => findDetails(reader, backupId),
  };
}

async function requireFewUnfinished(queries: Queries, installId: string): Promise<void> {
  if ((await countUnfinished(queries, installId)) < MOST_UNFINISHED) return;
  throw new RateLimited(
    LOOK_AGAIN_SECONDS,
    `${MOST_UNFINISHED} backups of this install are being made or wait already; one must finish first`,
  );
}
