import Type from 'typebox';
import { notificationSchedule } from '../features/accounts/notifications/job-kinds.ts';
import { areBackupsDaily } from '../features/backups/daily-backups.ts';
import { backUpDaily, discardCopyBackups, scheduleRestoreCheck } from '../features/backups/jobs.ts';
import { backupReconciliationSchedule } from '../features/backups/reconcile-backups.ts';
import {
  areRecoveryPointsMade,
  recoveryPointSchedule,
} from '../features/backups/recovery-points/schedule.ts';
import { installsToRenew } from '../features/domains/certificates/self-signed-certificates.ts';
import { verificationSchedule } from '../features/domains/domains/ownership-job-kinds.ts';
import { reachabilitySchedule } from '../features/domains/status-reports/reachability-monitor.ts';
import { expireDeleted } from '../features/provisioning/deleted-installs/jobs.ts';
import { fetchSchedule } from '../features/updates/fetch-releases.ts';
import { updateSchedule } from '../features/updates/schedule.ts';
import { watchSchedule } from '../features/uptime/watch.ts';
import { usageSchedules } from '../features/usage/job-kinds.ts';
import { limitSchedule } from '../features/usage/limit-warnings.ts';
import { applyInstall } from '../features/websites/installs/jobs.ts';
import { failedLanes } from '../features/websites/installs/website-store.ts';
import { wordpressSchedule } from '../features/websites/wordpress/job-kinds.ts';
import { defineJob, type JobKind, type JobType } from '../jobs/job.ts';
import { createPruneJob } from '../jobs/retention.ts';
import type { Schedule } from '../jobs/schedule.ts';
import { MINUTE_MS } from '../lib/durations.ts';
import type { Platform } from '../platform/platform.ts';
import { createTidyJob } from './retention.ts';

const LANE = 'maintenance';

const nothing = Type.Object({});
/** Kinds with an empty payload. */
type Scheduled = JobType<typeof nothing>;

/**
 * The platform's recurring jobs. `warn`: emails about expiring certificates. `order`: orders due certificates, if an
 * authority is configured.
 */
export function maintenance(
  platform: Platform,
  { warn, order }: { warn: Scheduled[]; order: Scheduled | null },
): { kinds: JobKind[]; schedules: Schedule[] } {
  const { config, database, queue, clock } = platform;
  const prune = createPruneJob({ database, clock, askedAfter: failedLanes });
  const tidy = createTidyJob({ database, clock });
  const renew = defineJob({
    name: 'renew_certificates',
    payload: nothing,
    maxAttempts: 3,
    timeoutMs: 10 * MINUTE_MS,
    async run() {
      const installs = await installsToRenew(platform);
      return async (transaction) => {
        for (const id of installs)
          await queue.enqueue(transaction, applyInstall, { payload: { id }, lane: id });
      };
    },
  });
  const scheduled = (kind: Scheduled, cron: string, lane = LANE): Schedule => ({
    name: kind.name,
    cron,
    async enqueue(transaction) {
      await queue.enqueue(transaction, kind, { payload: {}, lane });
    },
  });
  return {
    kinds: [prune, tidy, renew],
    schedules: [
      scheduled(prune, '17 3 * * *'),
      scheduled(tidy, '*/15 * * * *'),
      scheduled(renew, '43 * * * *'),
      ...warn.map((kind) => scheduled(kind, '23 * * * *')),
      scheduled(discardCopyBackups, '*/10 * * * *'),
      backupReconciliationSchedule(platform),
      scheduled(expireDeleted, '*/10 * * * *'),
      verificationSchedule(platform),
      ...usageSchedules(platform),
      limitSchedule(platform),
      notificationSchedule(platform),
      wordpressSchedule(platform),
      ...(config.host === 'linux' ? [updateSchedule(platform)] : []),
      ...(config.host === 'linux' && config.wordpressFetch ? [fetchSchedule(platform)] : []),
      ...(config.watchDomains ? [reachabilitySchedule(platform)] : []),
      watchSchedule(platform),
      ...(order === null ? [] : [scheduled(order, '* * * * *')]),
      ...(areRecoveryPointsMade(config) ? [recoveryPointSchedule(platform)] : []),
      ...(areBackupsDaily(config)
        ? [
            scheduled(backUpDaily, '* * * * *', backUpDaily.name),
            scheduled(scheduleRestoreCheck, '37 6 * * *'),
          ]
        : []),
    ],
  };
}
