import Type from 'typebox';
import { DAY_MS, HOUR_MS } from '../durations.ts';
import { defineJob, type JobKind } from '../jobs/job.ts';
import type { Schedule } from '../jobs/schedule.ts';
import type { Platform } from '../platform.ts';
import { loadSealingKey, sealingKeyFingerprint } from '../secrets/sealing-key.ts';
import { createPlatformBackup } from './create.ts';
import { openStorage, storageOptions } from './destination.ts';
import { prunePlatformBackups } from './prune.ts';
import type { WebsiteParts } from './website-parts.ts';

/** A backup that runs for longer than a day would meet the next one. */
const TIMEOUT_MS = DAY_MS - HOUR_MS;
const payload = Type.Object({});

/** The daily backup of the platform, and its schedule; neither without HOMEPORT_PLATFORM_BACKUP. */
export function dailyPlatformBackup(
  platform: Platform,
  websites: WebsiteParts | null,
  version: string,
): { kinds: JobKind[]; schedules: Schedule[] } {
  const { config, queue, clock, log } = platform;
  const destination = config.platformBackup;
  if (destination === null) return { kinds: [], schedules: [] };
  const kind = defineJob({
    name: 'back_up_platform',
    payload,
    maxAttempts: 3,
    timeoutMs: TIMEOUT_MS,
    class: 'long',
    async run(_payload, { signal }) {
      const storage = openStorage(destination, storageOptions(config, log));
      try {
        await createPlatformBackup(platform, {
          storage,
          websites,
          version,
          withSealingKey: config.platformBackupSealingKey,
          signal,
        });
        await prunePlatformBackups(storage, {
          platform: sealingKeyFingerprint(loadSealingKey(config)),
          keep: config.platformBackupKeep,
          now: clock.now(),
        });
      } finally {
        storage.close();
      }
    },
  });
  const { hour, minute } = config.platformBackupAt;
  return {
    kinds: [kind],
    schedules: [
      {
        name: kind.name,
        cron: `${minute} ${hour} * * *`,
        async enqueue(transaction) {
          await queue.enqueue(transaction, kind, { payload: {}, lane: kind.name });
        },
      },
    ],
  };
}
