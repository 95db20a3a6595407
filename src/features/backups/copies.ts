import { type Caller, OPERATOR } from '../../access/caller.ts';
import { authorize, isAllowed, type ResourceAccess } from '../../access/permissions.ts';
import { changeFor } from '../../access/request-transactions.ts';
import type { Queries, Transaction } from '../../database/database.ts';
import { lockRow } from '../../database/lock.ts';
import type { InstallRef } from '../../hosting/contract/install-ref.ts';
import { InvalidRequest, NotFound, notPermitted } from '../../lib/failures.ts';
import { FaultCollection } from '../../lib/fault-collection.ts';
import type { Actor } from '../../platform/activity-log.ts';
import type { Platform } from '../../platform/platform.ts';
import type { CapabilityReader } from '../hosts/capabilities.ts';
import { findInstallAccess } from '../websites/installs/store.ts';
import { findWebsite } from '../websites/installs/website-store.ts';
import { setCopyJob } from './copy-store.ts';
import { type EnqueueBackup, requireActiveTarget, requireUsable } from './copy-target.ts';
import { copiesLane, prepareCopy } from './jobs.ts';
import type { NotificationLimits } from './notification-limits.ts';
import { withNotifications } from './notification-request.ts';
import { partsPayload, type ReplacedParts, requireParts } from './replaced-parts.ts';
import { copyInstallSchema } from './schema.ts';

/** How an install is copied. */
export interface WantedCopy {
  /** The target install. */
  into: string;
  keepBackup: boolean;
  /** Whether the target is backed up first. */
  checkpoint: boolean;
  parts: ReplacedParts;
  notification_emails: readonly string[];
}

const COPY = 'InstallCopy';
const FIELDS = { resource: COPY, files: 'custom_options.include_files', tables: 'custom_options.db_tables' };

/** Requests copies of installs into others. */
export function createCopies(
  { database, queue, random, activity }: Platform,
  {
    limits,
    enqueueBackup,
    idOfInstall,
    capabilities,
  }: {
    limits: NotificationLimits;
    enqueueBackup: EnqueueBackup;
    /** Finds an install by name or id. */
    idOfInstall(queries: Queries, text: string, purpose?: string): Promise<string>;
    capabilities: Pick<CapabilityReader, 'require'>;
  },
) {
  const { reader } = database;

  /**
   * Copies an install into another one of the account: makes a backup, restores it into the target once complete, and
   * deletes it unless `keepBackup`. A checkpoint of the target is put back if the copy fails. Returns the id of the target's operation. Throws NotFound, Forbidden,
   * InvalidRequest; RateLimited for unfinished backups and mails to strangers.
   */
  async function copy(
    caller: Caller,
    installId: string,
    { into, keepBackup, checkpoint, parts, notification_emails }: WantedCopy,
    target = { resource: 'Backup', field: 'into_install_id' },
  ): Promise<string> {
    const targetId = into.toLowerCase();
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
        requireUsable(await findInstallAccess(queries, caller, targetId), source.account_id, target);
        if (targetId === installId) throw new InvalidRequest('An install is not copied into itself.');
        const { name } = await requireActiveTarget(queries, targetId, installId);
        const from = { ...source, id: installId };
        const wanted = { keepBackup, checkpoint, parts, notify };
        return enqueueCopy(transaction, caller, from, { id: targetId, name }, wanted);
      }),
    );
  }

  /** Always in the same order, so copies in both directions cannot deadlock. */
  async function lockBoth(transaction: Transaction, ...ids: [string, string]): Promise<void> {
    for (const id of ids.sort()) await lockRow(transaction, 'installs', id);
  }

  /** Requests a copy of a locked install into another one, which may still be provisioned. Returns the operation's id. */
  async function enqueueCopy(
    transaction: Transaction,
    actor: Actor,
    source: { id: string; name: string; account_id: string },
    target: { id: string; name: string },
    {
      keepBackup,
      checkpoint,
      parts,
      notify,
    }: Pick<WantedCopy, 'keepBackup' | 'checkpoint' | 'parts'> & { notify: readonly string[] },
  ): Promise<string> {
    const backupId = random.uuid();
    // Does not name the target, which users of this install may not see.
    const description = 'Copy into another install';
    await enqueueBackup(transaction, actor, source, { id: backupId, description, addresses: [] });
    const checkpointId = checkpoint ? random.uuid() : null;
    if (checkpointId !== null) {
      await enqueueBackup(
        transaction,
        actor,
        { id: target.id, account_id: source.account_id },
        // Does not name the source, which users of the target may not see.
        { id: checkpointId, description: 'Checkpoint before a copy', addresses: [], checkpoint: true },
      );
    }
    const result = {
      ...(keepBackup ? { backup_id: backupId } : {}),
      ...(checkpointId === null ? {} : { checkpoint_id: checkpointId }),
    };
    const jobId = await queue.enqueue(transaction, prepareCopy, {
      payload: {
        backup_id: backupId,
        install_id: target.id,
        from_id: source.id,
        ...(checkpointId === null ? {} : { checkpoint_id: checkpointId }),
        ...partsPayload(parts),
        ...(notify.length > 0 ? { notify: [...notify] } : {}),
      },
      lane: copiesLane(target.id),
      install: target.id,
      requestId: actor.origin.requestId,
      ...(Object.keys(result).length > 0 ? { result } : {}),
    });
    if (!keepBackup) await setCopyJob(transaction.queries, backupId, jobId);
    await activity.record(transaction, actor, source.account_id, {
      action: 'install.copy',
      subject: { id: source.id, name: source.name },
      installId: target.id,
      details: {
        to: target.name,
        backup_kept: keepBackup,
        ...(parts.files ? {} : { files: false }),
        ...(parts.database ? {} : { database: false }),
        ...(parts.tables === null ? {} : { tables: parts.tables.length }),
      },
    });
    return jobId;
  }

  return {
    copy,
    enqueueCopy,

    /** As {@link copy}, if the request names both installs in its body. */
    async copyBetween(caller: Caller, sourceId: string, wanted: WantedCopy): Promise<string> {
      const faults = new FaultCollection(copyInstallSchema);
      const ids = { source_environment_id: sourceId, destination_environment_id: wanted.into.toLowerCase() };
      for (const [field, id] of Object.entries(ids)) {
        const install = await findInstallAccess(reader, caller, id);
        await faults.from(() => requireWorkable(install, field));
      }
      faults.refuse();
      return copy(caller, sourceId, wanted, { resource: COPY, field: 'destination_environment_id' });
    },

    /** For the command line: copies an install into another one of its account, both by name or id. Throws InvalidRequest. */
    async copyAsOperator(
      source: string,
      { into, parts, checkpoint }: Pick<WantedCopy, 'into' | 'parts' | 'checkpoint'>,
    ): Promise<{ jobId: string; source: InstallRef; target: InstallRef }> {
      return database.write(async (transaction) => {
        const { queries } = transaction;
        const sourceId = await idOfInstall(queries, source, ' to copy');
        const targetId = await idOfInstall(queries, into, ' to copy into');
        if (targetId === sourceId) throw new InvalidRequest('An install is not copied into itself.');
        await lockBoth(transaction, sourceId, targetId);
        const from = await findWebsite(queries, { id: sourceId });
        if (!from) throw new NotFound();
        const fields = { resource: COPY, files: 'files', tables: 'table' };
        await requireParts(parts, from, fields, { queries, capabilities });
        const target = await requireActiveTarget(queries, targetId, sourceId);
        if (target.account_id !== from.account_id) {
          throw new InvalidRequest(
            `"${from.name}" and "${target.name}" belong to different accounts. Choose installs of one account.`,
          );
        }
        const to = { id: targetId, name: target.name };
        const wanted = { keepBackup: false, checkpoint, parts, notify: [] };
        const jobId = await enqueueCopy(transaction, OPERATOR, from, to, wanted);
        return { jobId, source: { id: from.id, name: from.name }, target: to };
      });
    },
  };
}

/** One sentence for missing and hidden installs. */
function requireWorkable(install: ResourceAccess | undefined, field: string): void {
  if (install && isAllowed('install.work', install)) return;
  throw notPermitted(COPY, field, 'You have no access to this install');
}
