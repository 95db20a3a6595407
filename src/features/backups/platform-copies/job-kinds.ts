import type { Static } from 'typebox';
import { OPERATOR } from '../../../access/caller.ts';
import { lockRow } from '../../../database/lock.ts';
import { PermanentHostError } from '../../../hosting/contract/errors.ts';
import { defineJob, type JobKind, PermanentFailure, type RunningJob } from '../../../jobs/job.ts';
import { timestamp } from '../../../lib/clock.ts';
import { FULL_DISK, isFullDisk } from '../../../lib/full-disk.ts';
import type { Platform } from '../../../platform/platform.ts';
import { openStorage, storageOptions } from '../../../platform-backup/destination.ts';
import { DamagedBackup, type Manifest } from '../../../platform-backup/manifest.ts';
import type { BackupStorage } from '../../../platform-backup/storage.ts';
import { readManifest } from '../../../platform-backup/verify.ts';
import { fetchWebsite, offeredBackups } from '../../../platform-backup/website-copy.ts';
import type { WebsiteParts } from '../../../platform-backup/website-parts.ts';
import { findWebsite } from '../../websites/installs/website-store.ts';
import type { EnqueueBackup } from '../copy-target.ts';
import { adoptWebsiteCopy, restoreBackup } from '../jobs.ts';
import { completedBackups, noteMissing } from '../missing-store.ts';
import { openPlace } from './place.ts';
import { insertAdopted } from './store.ts';

/** The job that makes a backup of an install from the copy in a platform backup. `websites`: null if they are on Linux hosts. */
export function adoptionKind(
  platform: Platform,
  websites: Parts | null,
  enqueueBackup: EnqueueBackup,
): JobKind {
  const { config, database, queue, clock, sealer, log } = platform;

  return defineJob({
    ...adoptWebsiteCopy,
    async run(payload, { id: jobId, ...job }) {
      const { backup_id, install_id, checkpoint_id, platform_backup } = payload;
      const install = await findWebsite(database.reader, { id: install_id });
      if (install?.status !== 'active' || websites === null) {
        throw new PermanentFailure('The install has no website to replace.', { code: 'website_missing' });
      }
      const { destination, credentials } = openPlace(sealer, payload.sealed_place);
      const options = storageOptions({ ...config, platformBackupCredentials: credentials }, log);
      const storage = openStorage(destination, options);
      const adopting = adopt(websites, install, storage, payload, job);
      const { manifest, snapshot, returned } = await adopting.catch(explained).finally(() => storage.close());
      return async (transaction) => {
        await lockRow(transaction, 'installs', install_id);
        await insertAdopted(transaction.queries, {
          id: backup_id,
          install_id,
          description: `From the platform backup ${platform_backup}`,
          bytes: snapshot.bytes,
          files: snapshot.files,
          sha256: snapshot.sha256,
          created_at: manifest.created_at,
          finished_at: timestamp(clock),
        });
        await noteMissing(transaction.queries, returned, null);
        const checkpoint = checkpoint_id === undefined ? {} : { checkpoint_id };
        if (checkpoint_id !== undefined) {
          await enqueueBackup(
            transaction,
            OPERATOR,
            { id: install_id, account_id: install.account_id },
            {
              id: checkpoint_id,
              description: 'Checkpoint before a restore',
              addresses: [],
              checkpoint: true,
              hasBegun: true,
            },
          );
        }
        await queue.enqueue(transaction, restoreBackup, {
          payload: { backup_id, install_id, from_id: install_id, ...checkpoint },
          lane: install_id,
          continues: jobId,
        });
      };
    },
  });

  async function adopt(
    parts: Parts,
    install: NonNullable<Awaited<ReturnType<typeof findWebsite>>>,
    storage: BackupStorage,
    { backup_id, website_id, platform_backup }: Static<typeof adoptWebsiteCopy.payload>,
    { signal, progress, isHeld }: Pick<RunningJob, 'signal' | 'progress' | 'isHeld'>,
  ) {
    const manifest = await readManifest(storage, platform_backup);
    const of = { manifest, id: website_id };
    const copy = {
      websiteId: website_id,
      platformBackupId: manifest.id,
      isWordPress: install.runtime === 'wordpress',
      fetch: (to: string) =>
        fetchWebsite(storage, of, to, {
          signal,
          report: (done, total) => progress(done, total, 'bytes'),
        }),
    };
    const snapshot = await parts.adopt(install, backup_id, copy, signal);
    try {
      return { manifest, snapshot, returned: await returnLost(parts, install.id, storage, of, signal) };
    } catch (error) {
      // A cancelled job has no later attempt that finds it. Without the lease, another attempt may have it by now.
      if (isHeld()) await parts.disown(install.id, backup_id);
      throw error;
    }
  }

  /** Puts lost backups of the install back. The website can be restored without them. */
  async function returnLost(
    parts: Parts,
    installId: string,
    storage: BackupStorage,
    of: { manifest: Manifest; id: string },
    signal: AbortSignal,
  ): Promise<string[]> {
    if (of.id !== installId) return [];
    const listed = (await completedBackups(database.reader, installId)).map(({ id }) => id);
    try {
      return await parts.returnBackups(installId, listed, offeredBackups(storage, of, signal));
    } catch (err) {
      signal.throwIfAborted();
      log.warn({ err, install: installId }, 'could not put the lost backups of an install back');
      return [];
    }
  }
}

type Parts = Pick<WebsiteParts, 'adopt' | 'disown' | 'returnBackups'>;

/** The failure for users of the install, who do not see where the platform is backed up. The cause is for the operator. */
function explained(cause: unknown): never {
  if (isFullDisk(cause)) {
    throw new PermanentFailure(`${FULL_DISK} Nothing was replaced.`, { code: 'disk_full', cause });
  }
  if (cause instanceof PermanentHostError) {
    throw new PermanentFailure(cause.message, { code: 'host_refused', cause });
  }
  if (cause instanceof DamagedBackup) {
    throw new PermanentFailure('The copy of the website is damaged. Nothing was replaced.', { cause });
  }
  throw cause;
}
