import Type from 'typebox';
import { KEEP_ANSWERS_MS } from '../api/idempotency.ts';
import { deleteKeysBefore } from '../api/idempotency-store.ts';
import { deleteRateWindowsBefore } from '../api/rate-window-store.ts';
import type { Database } from '../database/database.ts';
import { deleteInBatches } from '../database/delete-in-batches.ts';
import { pruneChanges } from '../database/sqlite-changes.ts';
import { deleteActivityBefore } from '../features/accounts/activity/store.ts';
import { deleteEventsBefore } from '../features/accounts/events/store.ts';
import { resolveNotifications } from '../features/accounts/notifications/resolving-store.ts';
import {
  deleteNotificationsBefore,
  deleteNotificationsBeyond,
  usersWithMoreThan,
} from '../features/accounts/notifications/retention-store.ts';
import { deleteReleasedBefore } from '../features/domains/domains/claims-store.ts';
import { HOLD_DAYS } from '../features/domains/domains/ownership.ts';
import { deleteReportsBefore } from '../features/domains/status-reports/store.ts';
import { KEEP_ENDED_MS } from '../features/identity/credentials/service.ts';
import { deleteEndedCredentials } from '../features/identity/credentials/store.ts';
import { deleteExpiredEmailChanges } from '../features/identity/email-changes/store.ts';
import { deleteExpiredInvitations } from '../features/identity/invitations/store.ts';
import { deleteExpiredPasswordLinks } from '../features/identity/passwords/store.ts';
import { deleteExpiredKnownDevices } from '../features/identity/sessions/known-device-store.ts';
import { deleteExpiredSessions } from '../features/identity/sessions/store.ts';
import { deleteExpiredChallenges } from '../features/identity/webauthn/store.ts';
import { deleteMovesClearedBefore } from '../features/provisioning/moves/store.ts';
import { deleteTransfersBefore } from '../features/transfers/store.ts';
import { deleteUpdatesBefore } from '../features/updates/store.ts';
import { KEEP_HISTORY_MS } from '../features/uptime/history.ts';
import { deleteUptimeBefore } from '../features/uptime/store.ts';
import { deleteAccountUsageBefore, deleteUsageBefore } from '../features/usage/collect-store.ts';
import { daysBefore, KEEP_DAYS } from '../features/usage/days.ts';
import { KEEP_OUTPUTS_MS } from '../features/websites/wp-cli/outputs.ts';
import { deleteWpCliRunsBefore } from '../features/websites/wp-cli/store.ts';
import { defineJob, type JobKind } from '../jobs/job.ts';
import { type Clock, timestamp } from '../lib/clock.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../lib/durations.ts';
import { deleteRunsBefore } from '../platform-backup/runs-store.ts';

/** The longest period for which they are queried. */
const KEEP_REPORTS_MS = 30 * DAY_MS;
/** With their webhook deliveries. */
const KEEP_EVENTS_MS = 30 * DAY_MS;
const KEEP_NOTIFICATIONS_MS = 90 * DAY_MS;
/** Of each user. */
const MOST_NOTIFICATIONS = 1_000;
const KEEP_ACTIVITY_MS = 365 * DAY_MS;
const KEEP_TRANSFERS_MS = 365 * DAY_MS;
/** As their operations. */
const KEEP_MOVES_MS = 30 * DAY_MS;
const KEEP_PLATFORM_BACKUP_RUNS_MS = 365 * DAY_MS;
/** Longer than the longest window, an hour. */
const KEEP_RATE_WINDOWS_MS = 2 * HOUR_MS;

const payload = Type.Object({});

/** Deletes rows past their retention, except those of the queue, which has its own job. Ends notifications of solved problems. */
export function createTidyJob({
  database,
  clock,
}: {
  database: Database;
  clock: Clock;
}): JobKind<typeof payload> {
  return defineJob({
    name: 'tidy',
    payload,
    maxAttempts: 3,
    timeoutMs: 10 * MINUTE_MS,
    async run(_payload, { signal }) {
      const yearAgo = timestamp(clock, -KEEP_ACTIVITY_MS);
      await deleteInBatches(database, signal, (queries, limit) =>
        deleteActivityBefore(queries, yearAgo, limit),
      );
      const dayAgo = timestamp(clock, -KEEP_ANSWERS_MS);
      await deleteInBatches(database, signal, (queries, limit) => deleteKeysBefore(queries, dayAgo, limit));
      const monthAgo = timestamp(clock, -KEEP_EVENTS_MS);
      await deleteInBatches(database, signal, (queries, limit) =>
        deleteEventsBefore(queries, monthAgo, limit),
      );
      const quarterAgo = timestamp(clock, -KEEP_NOTIFICATIONS_MS);
      await deleteInBatches(database, signal, (queries, limit) =>
        deleteNotificationsBefore(queries, quarterAgo, limit),
      );
      for (const userId of await usersWithMoreThan(database.reader, MOST_NOTIFICATIONS)) {
        await deleteInBatches(database, signal, (queries, limit) =>
          deleteNotificationsBeyond(queries, userId, MOST_NOTIFICATIONS, limit),
        );
      }
      const firstDay = daysBefore(timestamp(clock).slice(0, 10), KEEP_DAYS);
      await deleteInBatches(database, signal, (queries, limit) =>
        deleteUsageBefore(queries, firstDay, limit),
      );
      if (database.dialect === 'sqlite') await deleteInBatches(database, signal, pruneChanges);
      return async ({ queries }) => {
        const now = timestamp(clock);
        await resolveNotifications(queries, now);
        await deleteReportsBefore(queries, timestamp(clock, -KEEP_REPORTS_MS));
        await deleteRunsBefore(queries, timestamp(clock, -KEEP_PLATFORM_BACKUP_RUNS_MS));
        await deleteWpCliRunsBefore(queries, timestamp(clock, -KEEP_OUTPUTS_MS));
        await deleteRateWindowsBefore(queries, timestamp(clock, -KEEP_RATE_WINDOWS_MS));
        await deleteReleasedBefore(queries, timestamp(clock, -HOLD_DAYS * DAY_MS));
        await deleteTransfersBefore(queries, timestamp(clock, -KEEP_TRANSFERS_MS));
        await deleteMovesClearedBefore(queries, timestamp(clock, -KEEP_MOVES_MS));
        await deleteUpdatesBefore(queries, yearAgo);
        await deleteAccountUsageBefore(queries, firstDay);
        await deleteUptimeBefore(queries, timestamp(clock, -KEEP_HISTORY_MS));
        await deleteExpiredInvitations(queries, now);
        await deleteEndedCredentials(queries, timestamp(clock, -KEEP_ENDED_MS));
        await deleteExpiredSessions(queries, now);
        await deleteExpiredKnownDevices(queries, now);
        await deleteExpiredChallenges(queries, now);
        await deleteExpiredPasswordLinks(queries, now);
        await deleteExpiredEmailChanges(queries, now);
      };
    },
  });
}
