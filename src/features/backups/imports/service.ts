import { posix } from 'node:path';
import { type Caller, OPERATOR } from '../../../access/caller.ts';
import { authorize } from '../../../access/permissions.ts';
import type { Transaction } from '../../../database/database.ts';
import { lockRow } from '../../../database/lock.ts';
import type { InstallStatus } from '../../../database/tables/installs.ts';
import type { ImportSource } from '../../../hosting/contract/imports.ts';
import { STATIC_ONLY } from '../../../hosting/policy/static-only.ts';
import { Conflict, InvalidRequest, invalidValue, NotFound } from '../../../lib/failures.ts';
import type { Actor } from '../../../platform/activity-log.ts';
import type { Platform } from '../../../platform/platform.ts';
import { findInstallAccess } from '../../websites/installs/store.ts';
import { findWebsite } from '../../websites/installs/website-store.ts';
import type { EnqueueBackup } from '../copy-target.ts';
import { importWebsite } from '../jobs.ts';
import type { NotificationLimits } from '../notification-limits.ts';
import { withNotifications } from '../notification-request.ts';
import { isImportUnfinished } from './store.ts';

/** The resource that faults of a request name. */
export const IMPORT = 'WebsiteImport';

export interface WantedImport {
  source: ImportSource;
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
    hasWordPress,
  }: {
    limits: NotificationLimits;
    enqueueBackup: EnqueueBackup;
    /** Whether the installs of this platform have WordPress. */
    hasWordPress: boolean;
  },
) {
  const { reader } = database;

  /** Requests an import into a locked install. Returns the operation's id. */
  async function enqueue(
    transaction: Transaction,
    actor: Actor,
    install: { id: string; name: string; account_id: string; status: InstallStatus },
    { source, checkpoint }: Pick<WantedImport, 'source' | 'checkpoint'>,
    notify: readonly string[],
  ): Promise<string> {
    const { id, name, account_id, status } = install;
    if (!hasWordPress) throw new Conflict(STATIC_ONLY.reason);
    if (status !== 'active') throw new Conflict(STATES[status]);
    if (await isImportUnfinished(transaction.queries, id)) {
      throw new Conflict('Another import into this install has not finished. Wait for it, or cancel it.');
    }
    const checkpointId = checkpoint ? random.uuid() : null;
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
      details: { from: 'file' in source ? posix.basename(source.file) : new URL(source.url).hostname },
    });
    return jobId;
  }

  return {
    /**
     * Imports a website into an install. Returns the operation's id. Throws NotFound, Forbidden; Conflict if the install cannot take
     * one now; RateLimited for mails to strangers and unfinished backups.
     */
    async request(
      caller: Caller,
      installId: string,
      { notification_emails, ...wanted }: WantedImport,
    ): Promise<string> {
      authorize('install.work', 'install.read', await findInstallAccess(reader, caller, installId));
      return withNotifications({ reader, limits }, caller, installId, notification_emails, (notify) =>
        database.write(async (transaction) => {
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
    },

    /** For the command line, with a checkpoint. Throws InvalidRequest for an unknown install; Conflict. */
    requestAsOperator: (name: string, source: ImportSource): Promise<{ jobId: string; installId: string }> =>
      database.write(async (transaction) => {
        const install = await findWebsite(transaction.queries, { name });
        if (!install) {
          throw new InvalidRequest(`There is no install "${name}"; "homeport install list" shows them all.`);
        }
        await lockRow(transaction, 'installs', install.id);
        const jobId = await enqueue(transaction, OPERATOR, install, { source, checkpoint: true }, []);
        return { jobId, installId: install.id };
      }),
  };
}

/** The source in a request. Throws InvalidRequest. */
export function readSource({
  source,
  path,
  url,
}: {
  source: 'file' | 'url';
  path?: string;
  url?: string;
}): ImportSource {
  if (source === 'file') {
    if (path === undefined) throw invalidValue(IMPORT, 'path', 'missing', 'Name the path of the archive');
    if (url !== undefined) throw invalidValue(IMPORT, 'url', 'not_applicable', 'A file has no URL');
    const parts = path.split('/');
    if (parts[0] !== 'private' || parts.length < 2 || parts.some((part) => ['', '.', '..'].includes(part))) {
      throw invalidValue(
        IMPORT,
        'path',
        'invalid_format',
        'The path must begin with private/ and must not contain "..", "." or "//"',
      );
    }
    return { file: path };
  }
  if (url === undefined) throw invalidValue(IMPORT, 'url', 'missing', 'Name the URL of the archive');
  if (path !== undefined) throw invalidValue(IMPORT, 'path', 'not_applicable', 'A URL has no path of a file');
  if (URL.parse(url)?.protocol !== 'https:') {
    throw invalidValue(IMPORT, 'url', 'invalid_format', 'The URL must be valid and begin with https://');
  }
  return { url };
}
