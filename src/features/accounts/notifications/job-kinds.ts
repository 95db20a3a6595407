import { PLATFORM } from '../../../access/caller.ts';
import { loadScope } from '../../../access/memberships.ts';
import { RATE_LIMITS, type RateCounter, rateLimitKey } from '../../../access/rate-limits.ts';
import { defineJob, type JobKind } from '../../../jobs/job.ts';
import { hasUnfinishedJobs } from '../../../jobs/lanes.ts';
import type { Schedule } from '../../../jobs/schedule.ts';
import { timestamp } from '../../../lib/clock.ts';
import { isNotificationCategory } from '../../../lib/notification-categories.ts';
import type { Mailer } from '../../../mail/mailer.ts';
import type { Platform } from '../../../platform/platform.ts';
import { pageOfNotifications } from './inbox-store.ts';
import { mailNotifications, sendNotifications } from './jobs.ts';
import { LISTED_IN_MAIL, notificationMail } from './mail.ts';
import { findRecipient, takeDueMail, usersWithDueMail } from './mail-store.ts';
import { createSubscribedMail } from './subscribed-mail.ts';
import { notificationView } from './view.ts';

/** Users whose emails one job queues. The next job, a minute later, takes the others. */
const USERS_AT_ONCE = 200;
const { size, windowSeconds } = RATE_LIMITS.notificationMails;

export function notificationJobKinds(
  platform: Pick<Platform, 'config' | 'database' | 'queue' | 'clock' | 'sealer'>,
  counter: RateCounter,
  mailer: Mailer,
): JobKind[] {
  const { config, database, queue, clock } = platform;
  const subscribed = createSubscribedMail(platform);
  return [
    defineJob({
      ...mailNotifications,
      async run() {
        const due = await usersWithDueMail(database.reader, timestamp(clock), USERS_AT_ONCE);
        const allowed: string[] = [];
        for (const userId of due) {
          const key = rateLimitKey(RATE_LIMITS.notificationMails, userId);
          if ((await counter.spend(key, size, windowSeconds)).allowed) allowed.push(userId);
        }
        return async (transaction) => {
          for (const userId of allowed) {
            const ids = await takeDueMail(transaction.queries, userId, timestamp(clock));
            if (ids.length === 0) continue;
            await queue.enqueue(transaction, sendNotifications, {
              payload: { user_id: userId, notification_ids: ids },
              lane: null,
            });
          }
        };
      },
    }),
    defineJob({
      ...sendNotifications,
      async run({ user_id, notification_ids }) {
        const recipient = await findRecipient(database.reader, user_id);
        if (!recipient) return;
        // Leaves out read ones, and those that the user can no longer see.
        const scope = await loadScope(database.reader, { ...PLATFORM, userId: user_id, limits: null });
        const { count, results } = await pageOfNotifications(
          database.reader,
          scope,
          { ids: notification_ids, isRead: false },
          { limit: LISTED_IN_MAIL, offset: 0 },
        );
        if (results.length === 0) return;
        const listed = results.map(notificationView);
        const categories = [...new Set(listed.map(({ category }) => category))].filter(
          isNotificationCategory,
        );
        const mail = notificationMail(recipient, { listed, more: count - listed.length }, config.publicUrl);
        await mailer.send(subscribed(mail, { userId: user_id, categories }));
      },
    }),
  ];
}

/** Looks every minute for emails that are due. */
export function notificationSchedule({
  database,
  queue,
  clock,
}: Pick<Platform, 'database' | 'queue' | 'clock'>): Schedule {
  return {
    name: mailNotifications.name,
    cron: '* * * * *',
    async enqueue(transaction) {
      if (await hasUnfinishedJobs(transaction.queries, mailNotifications.name)) return;
      const due = await usersWithDueMail(database.reader, timestamp(clock), 1);
      if (due.length === 0) return;
      await queue.enqueue(transaction, mailNotifications, { payload: {}, lane: mailNotifications.name });
    },
  };
}
