import { posix } from 'node:path';
import type { Static } from 'typebox';
import { type Caller, OPERATOR } from '../../../access/caller.ts';
import { authorize } from '../../../access/permissions.ts';
import { changeFor } from '../../../access/request-transactions.ts';
import type { Transaction } from '../../../database/database.ts';
import { lockRow } from '../../../database/lock.ts';
import type { InstallStatus } from '../../../database/tables/installs.ts';
import { Conflict, NotFound } from '../../../lib/failures.ts';
import type { Actor } from '../../../platform/activity-log.ts';
import type { Platform } from '../../../platform/platform.ts';
import type { CapabilityReader } from '../../hosts/capabilities.ts';
import { lockNamed, type Website } from '../../websites/installs/requested-website.ts';
import { findInstallAccess } from '../../websites/installs/store.ts';
import { findWebsite } from '../../websites/installs/website-store.ts';
import type { EnqueueBackup } from '../copy-target.ts';
import { importWebsite } from '../jobs.ts';
import type { NotificationLimits } from '../notification-limits.ts';
import { withNotifications } from '../notification-request.ts';
import { findImportKey } from './import-key-store.ts';
import { IMPORT, openSource, type WantedSource } from './source.ts';
import { findLeftOut, isImportUnfinished } from './store.ts';

export interface WantedImport {
  source: WantedSource;
  /** Whether the install is backed up first. */
  checkpoint: boolean;
  notification_emails: readonly string[];
}

const STATES: Record<Exclude<InstallStatus, 'active'>, string> = {
  pending: 'The install is still being created. Try again when its status is active.',
  failed: 'The install could not be created. Delete it and create another one.',
};

export type ImportService = ReturnType<typeof createImportService>;

/** Requests imports of existing websites. */
export function createImportService(
  { database, queue, random, activity, sealer }: Platform,
  {
    limits,
    enqueueBackup,
    capabilities,
  }: {
    limits: NotificationLimits;
    enqueueBackup: EnqueueBackup;
    capabilities: Pick<CapabilityReader, 'require'>;
  },
) {
  const { reader } = database;

  /** Requests an import into a locked install. Returns the operation's id. */
  async function enqueue(
    transaction: Transaction,
    actor: Actor,
    install: Website,
    { source, checkpoint }: Pick<WantedImport, 'source' | 'checkpoint'>,
    notify: readonly string[],
  ): Promise<string> {
    const { id, name, account_id, status } = install;
    await capabilities.require(transaction.queries, install, 'imports');
    if ('ssh' in source) {
      const asked = { resource: IMPORT, field: 'source' };
      await capabilities.require(transaction.queries, install, 'imports_by_ssh', asked);
    }
    if (status !== 'active') throw new Conflict(STATES[status]);
    if (await isImportUnfinished(transaction.queries, id)) {
      throw new Conflict('Another import into this install has not finished. Wait for it, or cancel it.');
    }
    if ('ssh' in source && !(await findImportKey(transaction.queries, id))) {
      throw new Conflict(
        'The install has no import key. Create it, and add its public key to the authorized_keys of the old host.',
      );
    }
    // Without a confirmed host key, the import only finds out the fingerprint of the server.
    const replaces = !('ssh' in source && source.ssh.hostKey === null);
    const checkpointId = checkpoint && replaces ? random.uuid() : null;
    if (checkpointId !== null) {
      await enqueueBackup(
        transaction,
        actor,
        { id, account_id },
        { id: checkpointId, description: 'Checkpoint before an import', addresses: [], checkpoint: true },
      );
    }
    const jobId = await queue.enqueue(transaction, importWebsite, {
      payload: {
        install_id: id,
        import_id: random.uuid(),
        // An address can contain a signature, which opens the archive to anyone.
        sealed_source: sealer.seal(JSON.stringify(source)),
        ...(checkpointId === null ? {} : { checkpoint_id: checkpointId }),
        ...(notify.length > 0 ? { notify: [...notify] } : {}),
      },
      lane: id,
      requestId: actor.origin.requestId,
      ...(checkpointId === null ? {} : { result: { checkpoint_id: checkpointId } }),
    });
    await activity.record(transaction, actor, account_id, {
      action: 'install.import',
      subject: { id, name },
      installId: id,
      details: { from: originOf(source) },
    });
    return jobId;
  }

  /**
   * Imports a website into an install. Returns the operation's id. Throws NotFound, Forbidden; Conflict if the install cannot take
   * one now; RateLimited for mails to strangers and unfinished backups.
   */
  async function request(
    caller: Caller,
    installId: string,
    { notification_emails, ...wanted }: WantedImport,
  ): Promise<string> {
    authorize('install.work', 'install.read', await findInstallAccess(reader, caller, installId));
    return withNotifications({ reader, limits }, caller, installId, notification_emails, (notify) =>
      changeFor(database, caller, async (transaction) => {
        await lockRow(transaction, 'installs', installId);
        authorize(
          'install.work',
          'install.read',
          await findInstallAccess(transaction.queries, caller, installId),
        );
        const install = await findWebsite(transaction.queries, { id: installId });
        if (!install) throw new NotFound();
        return enqueue(transaction, caller, install, wanted, notify);
      }),
    );
  }

  return {
    request,

    /** Imports from the source of a failed import again. Returns the operation's id. Throws as {@link request}. */
    async repeat(
      caller: Caller,
      installId: string,
      { sealed_source, checkpoint_id, notify = [] }: Static<typeof importWebsite.payload>,
    ): Promise<string> {
      authorize('install.work', 'install.read', await findInstallAccess(reader, caller, installId));
      const source = openSource(sealer, sealed_source);
      return request(caller, installId, {
        source,
        checkpoint: checkpoint_id !== undefined,
        notification_emails: notify,
      });
    },

    /** For the command line, with a checkpoint. Throws InvalidRequest for an unknown install; Conflict. */
    requestAsOperator: (name: string, source: WantedSource): Promise<{ jobId: string; installId: string }> =>
      database.write(async (transaction) => {
        const install = await lockNamed(transaction, name);
        const jobId = await enqueue(transaction, OPERATOR, install, { source, checkpoint: true }, []);
        return { jobId, installId: install.id };
      }),

    /** For the command line: the parts that a successful import left out; null if it left out nothing. */
    leftOutBy: (jobId: string): Promise<string | null> => findLeftOut(reader, jobId),
  };
}

/** What the activity names. A URL can contain a signature, so only its host is shown. */
function originOf(source: WantedSource): string {
  if ('file' in source) return posix.basename(source.file);
  return 'url' in source ? new URL(source.url).hostname : source.ssh.host;
}
