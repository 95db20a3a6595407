import { OPERATOR } from '../../../access/caller.ts';
import { lockRow } from '../../../database/lock.ts';
import { Conflict } from '../../../lib/failures.ts';
import type { Platform } from '../../../platform/platform.ts';
import { applyInstall } from '../../websites/installs/jobs.ts';
import { requireActiveTarget } from '../copy-target.ts';
import { adoptWebsiteCopy } from '../jobs.ts';
import { type BackupPlace, sealPlace } from './place.ts';
import { isAdoptionUnfinished } from './store.ts';

/** The copy of a website in a platform backup, and the install that it replaces the website of. */
export interface WantedCopyRestore {
  installId: string;
  place: BackupPlace;
  platformBackup: string;
  /** The install that the copy was made for, and its name then. */
  website: { id: string; name: string };
  /** Whether the present website is backed up before. */
  checkpoint: boolean;
  /** Whether the host does not know the website any more, so that it is created again first. */
  isUnserved: boolean;
}

export type PlatformCopyService = ReturnType<typeof createPlatformCopies>;

/** Requests restores of single installs from a backup of the platform. */
export function createPlatformCopies({ database, queue, random, activity, sealer }: Platform) {
  return {
    /**
     * For the command line: makes a backup of the copy, then a checkpoint, then restores the backup. Returns the id of the first job.
     * Throws NotFound, InvalidRequest, Conflict.
     */
    request: ({
      installId,
      place,
      platformBackup,
      website,
      checkpoint,
      isUnserved,
    }: WantedCopyRestore): Promise<{ jobId: string; backupId: string }> =>
      database.write(async (transaction) => {
        const { queries } = transaction;
        await lockRow(transaction, 'installs', installId);
        const target = await requireActiveTarget(queries, installId, installId);
        if (await isAdoptionUnfinished(queries, installId)) {
          throw new Conflict(
            `${target.name} is being restored from a platform backup already. Wait until that has ended.`,
          );
        }
        if (isUnserved) {
          const payload = { id: installId, from_scratch: true };
          await queue.enqueue(transaction, applyInstall, { payload, lane: installId });
        }
        const backupId = random.uuid();
        const result: { backup_id: string } & Record<string, string> = {
          backup_id: backupId,
          ...(checkpoint ? { checkpoint_id: random.uuid() } : {}),
        };
        const jobId = await queue.enqueue(transaction, adoptWebsiteCopy, {
          payload: {
            ...result,
            install_id: installId,
            website_id: website.id,
            platform_backup: platformBackup,
            sealed_place: sealPlace(sealer, place),
          },
          lane: installId,
          result,
        });
        await activity.record(transaction, OPERATOR, target.account_id, {
          action: 'backup.restore',
          subject: { id: backupId, name: platformBackup },
          installId,
          details: { from: website.name, to: target.name },
        });
        return { jobId, backupId };
      }),
  };
}
