import Type from 'typebox';
import { defineJob, type JobKind, type JobType, Postponed, switchedOff } from '../jobs/job.ts';
import type { Schedule } from '../jobs/schedule.ts';
import { DAY_MS, HOUR_MS } from '../lib/durations.ts';
import type { WatchedSettings } from '../platform/changed-settings.ts';
import type { Platform } from '../platform/platform.ts';
import { loadSealingKey, sealingKeyFingerprint } from '../secrets/sealing-key.ts';
import { createPlatformBackup } from './create.ts';
import { openStorage, storageOptions } from './destination.ts';
import { BackupUnderWay } from './one-at-a-time.ts';
import { prunePlatformBackups, removeAbandoned } from './prune.ts';
import { deleteFailedRuns } from './runs-store.ts';
import type { BackupStorage } from './storage.ts';
import type { WebsiteParts } from './website-parts.ts';

/** A backup that runs for longer than a day would meet the next one. */
const TIMEOUT_MS = DAY_MS - HOUR_MS;
const payload = Type.Object({});
const NAME = 'back_up_platform';

const backUpPlatform: JobType<typeof payload> = {
  name: NAME,
  payload,
  maxAttempts: 3,
  timeoutMs: TIMEOUT_MS,
  class: 'long',
};
const pruneBackups: JobType<typeof payload> = {
  name: 'prune_platform_backups',
  payload,
  maxAttempts: 3,
  timeoutMs: HOUR_MS,
};

/** The daily backup of the platform, and its schedule. Nothing is backed up without HOMEPORT_PLATFORM_BACKUP. */
export function dailyPlatformBackup(
  platform: Platform,
  websites: WebsiteParts | null,
  version: string,
): { kinds: JobKind[]; schedules: Schedule[]; watched: WatchedSettings } {
  const { config, queue, clock, log } = platform;
  const destination = config.platformBackup;
  const watched: WatchedSettings = {
    name: 'platform backup',
    values: [destination, config.platformBackupCredentials],
    changed: ({ queries }) => deleteFailedRuns(queries),
  };
  if (destination === null) {
    return { kinds: [switchedOff(backUpPlatform), switchedOff(pruneBackups)], schedules: [], watched };
  }
  const withStorage = async (work: (storage: BackupStorage) => Promise<unknown>) => {
    const storage = openStorage(destination, storageOptions(config, log));
    try {
      await work(storage);
    } finally {
      storage.close();
    }
  };
  // First, because the remains of a killed backup can leave no room for the next. A destination may refuse to delete.
  const removeAbandonedOrLog = (storage: BackupStorage) =>
    removeAbandoned(storage, clock.now()).catch((err: unknown) =>
      log.warn({ err }, 'could not delete the remains of unfinished platform backups'),
    );
  // A separate job: a failed deletion of old backups must not repeat the backup.
  const prune = defineJob({
    ...pruneBackups,
    run: () =>
      withStorage((storage) =>
        prunePlatformBackups(storage, {
          platform: sealingKeyFingerprint(loadSealingKey(config)),
          keep: config.platformBackupKeep,
          now: clock.now(),
          log,
        }),
      ),
  });
  const kind = defineJob({
    ...backUpPlatform,
    async run(_payload, { signal }) {
      await withStorage(async (storage) => {
        await removeAbandonedOrLog(storage);
        await createPlatformBackup(platform, {
          storage,
          websites,
          version,
          withSealingKey: config.platformBackupSealingKey,
          signal,
        }).catch((error: unknown) => {
          if (error instanceof BackupUnderWay) throw new Postponed(error.message, { cause: error });
          throw error;
        });
      });
      return async (transaction) => {
        await queue.enqueue(transaction, prune, { payload: {}, lane: NAME });
      };
    },
  });
  const { hour, minute } = config.platformBackupAt;
  return {
    watched,
    kinds: [kind, prune],
    schedules: [
      {
        name: NAME,
        cron: `${minute} ${hour} * * *`,
        async enqueue(transaction) {
          await queue.enqueue(transaction, kind, { payload: {}, lane: NAME });
        },
      },
    ],
  };
}
