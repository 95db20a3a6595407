import Type from 'typebox';
import { Value } from 'typebox/value';
import { type Caller, storedUserOf } from '../../../access/caller.ts';
import { authorize, isAllowed, type ResourceAccess } from '../../../access/permissions.ts';
import { changeFor } from '../../../access/request-transactions.ts';
import { lockRow } from '../../../database/lock.ts';
import type { BackupStatus } from '../../../database/tables/backups.ts';
import { timestamp } from '../../../lib/clock.ts';
import { HOUR_SECONDS } from '../../../lib/durations.ts';
import { Conflict, InvalidRequest, invalidValue, RateLimited } from '../../../lib/failures.ts';
import type { WithOperation } from '../../../lib/operation.ts';
import type { PageOf, PageRequest } from '../../../lib/page.ts';
import type { Platform } from '../../../platform/platform.ts';
import { findInstallAccess } from '../../websites/installs/store.ts';
import { DOWNLOAD_PATH, signedLinks } from '../download-links.ts';
import { archivesLane, createArchive } from '../jobs.ts';
import type { NotificationLimits } from '../notification-limits.ts';
import { withNotifications } from '../notification-request.ts';
import { requirePresent } from '../require-present.ts';
import { findBackupDetails } from '../store.ts';
import { LAST_DOWNLOADS_MS } from './finish-archive.ts';
import {
  findArchive,
  findDownload,
  insertArchive,
  isDownloadable,
  pageOfArchives,
  pageOfListedArchives,
  presentArchives,
  type SeenArchive,
} from './store.ts';

/** An archive with its addresses and its link. */
export interface PresentArchive extends Omit<SeenArchive, 'notification_emails'> {
  notification_emails: string[];
  download_uri: string | null;
}

/** An archive in the portal's list. */
export interface ListedArchive {
  id: string;
  state: BackupStatus;
  bytes: number | null;
  /** Of an abort, one sentence. */
  reason: string | null;
  created_at: string;
  expires_at: string | null;
  /** Null if the backup was deleted. */
  backup_description: string | null;
  download_uri: string | null;
}

export type ArchiveService = ReturnType<typeof createArchiveService>;

/** Archives of one install at a time, because each takes the space of a website. */
const MOST_ARCHIVES = 3;

const addresses = Type.Array(Type.String());

export function createArchiveService(platform: Platform, limits: NotificationLimits) {
  const { config, database, queue, clock, random, sealer, activity } = platform;
  const { reader } = database;
  const links = signedLinks(sealer, {
    purpose: 'archive-links',
    address: `${config.publicUrl.replace(/\/$/, '')}${DOWNLOAD_PATH}`,
  });

  const linkOf = ({ id, state, expires_at }: Pick<SeenArchive, 'id' | 'state' | 'expires_at'>) =>
    state === 'completed' && expires_at !== null && expires_at > timestamp(clock)
      ? links.linkTo(id, expires_at)
      : null;

  function present(archive: SeenArchive, mayDownload: boolean): PresentArchive {
    return {
      ...archive,
      notification_emails: Value.Parse(addresses, archive.notification_emails),
      download_uri: mayDownload ? linkOf(archive) : null,
    };
  }

  // A link gives the whole website to anyone, so a credential that only reads gets none.
  const mayDownload = (caller: Caller, install: ResourceAccess) =>
    isAllowed('install.work', install) && caller.limits?.readOnly !== true;

  /**
   * Packs a completed backup for download. Throws NotFound, Forbidden, InvalidRequest; RateLimited for too many archives and
   * for mails to strangers.
   */
  async function request(
    caller: Caller,
    installId: string,
    input: { backup_id: string; notification_emails: readonly string[] },
  ): Promise<WithOperation<{ archive: PresentArchive }>> {
    authorize('install.work', 'install.read', await findInstallAccess(reader, caller, installId));
    const backupId = input.backup_id.toLowerCase();
    const emails = input.notification_emails;
    const id = random.uuid();
    const operationId = await withNotifications({ reader, limits }, caller, installId, emails, (notify) =>
      changeFor(database, caller, async (transaction) => {
        const { queries } = transaction;
        await lockRow(transaction, 'installs', installId);
        const install = await findInstallAccess(queries, caller, installId);
        authorize('install.work', 'install.read', install);
        const backup = await findBackupDetails(queries, backupId);
        if (!backup || backup.install_id !== installId || backup.copy_job_id !== null) {
          throw invalidValue('Archive', 'backup_id', 'unknown', 'The install has no such backup');
        }
        if (backup.status !== 'completed') {
          throw new InvalidRequest(`The backup is ${backup.status}; only a completed one can be packed.`);
        }
        requirePresent(backup);
        const present = await presentArchives(queries, installId, timestamp(clock));
        if (present.length >= MOST_ARCHIVES) throw tooMany(present, clock.now());
        await insertArchive(queries, {
          id,
          install_id: installId,
          backup_id: backupId,
          notification_emails: notify,
          requested_by: storedUserOf(caller),
          created_at: timestamp(clock),
        });
        await activity.record(transaction, caller, install.account_id, {
          action: 'backup.pack',
          subject: { id: backupId, name: backup.description },
          installId,
        });
        return queue.enqueue(transaction, createArchive, {
          payload: { archive_id: id, backup_id: backupId, install_id: installId },
          lane: archivesLane(installId),
          install: installId,
          requestId: caller.origin.requestId,
          result: { archive_id: id, backup_id: backupId },
        });
      }),
    );
    const archive = await findArchive(reader, id);
    if (!archive) throw new Error('a new archive is gone');
    return { archive: present(archive, true), operationId };
  }

  return {
    /** Oldest first. Throws NotFound. */
    async page(caller: Caller, installId: string, page: PageRequest): Promise<PageOf<PresentArchive>> {
      const install = await findInstallAccess(reader, caller, installId);
      authorize('install.read', 'install.read', install);
      const isLinked = mayDownload(caller, install);
      const { count, results } = await pageOfArchives(reader, installId, { ...page, now: timestamp(clock) });
      return { count, results: results.map((archive) => present(archive, isLinked)) };
    },

    /** For the portal, newest first, with expired ones. Throws NotFound. */
    async list(caller: Caller, installId: string, page: PageRequest): Promise<PageOf<ListedArchive>> {
      const install = await findInstallAccess(reader, caller, installId);
      authorize('install.read', 'install.read', install);
      const isLinked = mayDownload(caller, install);
      const { count, results } = await pageOfListedArchives(reader, installId, page);
      return {
        count,
        results: results.map((archive) => ({
          ...archive,
          expires_at: archive.state === 'completed' ? archive.expires_at : null,
          download_uri: isLinked ? linkOf(archive) : null,
        })),
      };
    },

    /** Packs a backup again. Returns the operation's id. Throws as {@link request}, and Conflict if the archive has expired. */
    async repeat(
      caller: Caller,
      installId: string,
      { archive_id, backup_id }: { archive_id: string; backup_id: string },
    ): Promise<string> {
      authorize('install.work', 'install.read', await findInstallAccess(reader, caller, installId));
      const aborted = await findArchive(reader, archive_id);
      if (aborted === undefined) throw new Conflict('The archive has expired. Request a new one.');
      const notification_emails = Value.Parse(addresses, aborted.notification_emails);
      return (await request(caller, installId, { backup_id, notification_emails })).operationId;
    },

    request,

    /** The archive that a link opens; null if the link is invalid or has expired. */
    async findByLink(archiveId: string, parameters: { expires: string; signature: string }) {
      if (!links.isValid(archiveId, parameters, clock.now())) return null;
      const archive = await findDownload(reader, archiveId);
      if (!archive || archive.bytes === null || archive.sha256 === null) return null;
      if (archive.expires_at === null || archive.expires_at <= timestamp(clock)) return null;
      const { id, bytes, sha256, install_id, install_name, created_at } = archive;
      return { id, bytes, sha256, created_at, install: { id: install_id, name: install_name } };
    },

    /** Whether a download that runs may go on: until some hours after its link has expired. */
    mayContinue: (archiveId: string): Promise<boolean> =>
      isDownloadable(reader, archiveId, timestamp(clock, -LAST_DOWNLOADS_MS)),
  };
}

function tooMany(present: readonly { expires_at: string | null }[], now: Date): RateLimited {
  const ends = present.map(({ expires_at }) => (expires_at === null ? Number.NaN : Date.parse(expires_at)));
  const known = ends.filter((end) => !Number.isNaN(end));
  const seconds = known.length === 0 ? HOUR_SECONDS : (Math.min(...known) - now.getTime()) / 1000;
  return new RateLimited(
    seconds,
    `This install has ${MOST_ARCHIVES} archives already; one must expire first`,
  );
}
