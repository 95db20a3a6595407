import type { Transaction } from '../../../database/database.ts';
import type { Host } from '../../../hosting/contract/host.ts';
import { defineJob, type JobKind, PermanentFailure } from '../../../jobs/job.ts';
import { type Clock, timestamp } from '../../../lib/clock.ts';
import { DAY_MS } from '../../../lib/durations.ts';
import type { Mailer } from '../../../mail/mailer.ts';
import type { Platform } from '../../../platform/platform.ts';
import { permanently, postponing } from '../../hosts/host-failures.ts';
import { findActiveInstall, findInstallRef } from '../../websites/installs/website-store.ts';
import { archivesLane, createArchive, discardArchive, notifyOfArchive } from '../jobs.ts';
import { archiveMail } from '../mail.ts';
import { createArchiveFinisher, LAST_DOWNLOADS_MS } from './finish-archive.ts';
import {
  archivesThatAreOver,
  beginArchive,
  deleteArchive,
  findArchive,
  findFinishedArchive,
  isArchiveOver,
} from './store.ts';

/** Longer than the jobs that pack an archive can take and wait. */
const UNFINISHED_MS = 7 * DAY_MS;
/** Deletions requested at once; the rest follows at the next time. */
const MOST_EXPIRED = 200;

const overAt = (clock: Clock) => ({
  now: timestamp(clock),
  downloadedBy: timestamp(clock, -LAST_DOWNLOADS_MS),
  unfinishedBefore: timestamp(clock, -UNFINISHED_MS),
});

/** Requests the deletion of archives that have expired and are not downloaded any more. */
export async function discardExpiredArchives(
  { queue, clock }: Pick<Platform, 'queue' | 'clock'>,
  transaction: Transaction,
): Promise<void> {
  const over = await archivesThatAreOver(transaction.queries, { ...overAt(clock), limit: MOST_EXPIRED });
  for (const { id, install_id } of over) {
    await queue.enqueue(transaction, discardArchive, {
      payload: { archive_id: id, install_id },
      lane: archivesLane(install_id),
      install: install_id,
    });
  }
}

/** The jobs that pack backups for download, delete expired archives and email the result. */
export function archiveKinds(platform: Platform, host: Host, mailer: Mailer): JobKind[] {
  const { database, clock } = platform;
  const { reader } = database;

  const finish = createArchiveFinisher(platform);

  return [
    defineJob({
      ...createArchive,
      async run({ archive_id, backup_id, install_id }, { signal }) {
        const install = await findActiveInstall(reader, install_id);
        if (!install || !(await findArchive(reader, archive_id))) {
          throw new PermanentFailure('The install has no website, or the archive was deleted.', {
            code: 'website_missing',
          });
        }
        await database.write(({ queries }) => beginArchive(queries, archive_id, timestamp(clock)));
        const ids = { backupId: backup_id, archiveId: archive_id };
        const { bytes, sha256 } = await permanently(postponing(host.pack(install, ids, signal)));
        return (transaction) => finish(transaction, archive_id, { state: 'completed', bytes, sha256 });
      },
      giveUp: ({ archive_id }, { reason }, transaction) =>
        finish(transaction, archive_id, { state: 'aborted', reason }),
    }),
    defineJob({
      ...discardArchive,
      async run({ archive_id, install_id }) {
        const install = await findInstallRef(reader, install_id);
        if (!install || !(await isArchiveOver(reader, archive_id, overAt(clock)))) return;
        await postponing(host.discardPacked(install, archive_id));
        return ({ queries }) => deleteArchive(queries, archive_id);
      },
    }),
    defineJob({
      ...notifyOfArchive,
      async run({ archive_id, address }) {
        const archive = await findFinishedArchive(reader, archive_id);
        if (archive) await mailer.send({ to: address, ...archiveMail(archive) });
      },
    }),
  ];
}
