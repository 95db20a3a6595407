import type { Caller } from '../../../access/caller.ts';
import { loadScope } from '../../../access/memberships.ts';
import { changeFor, readerFor } from '../../../access/request-transactions.ts';
import type { Transaction } from '../../../database/database.ts';
import { uniqueViolation } from '../../../database/unique-violation.ts';
import { timestamp } from '../../../lib/clock.ts';
import { Conflict, Forbidden, NotFound } from '../../../lib/failures.ts';
import {
  CATEGORY_NAMES,
  EMAIL_CHOICES,
  NOTIFICATION_CATEGORIES,
  type NotificationCategory,
} from '../../../lib/notification-categories.ts';
import type { PageOf, PageRequest } from '../../../lib/page.ts';
import type { Platform } from '../../../platform/platform.ts';
import { markNotifications, type NotificationFilter, pageOfNotifications } from './inbox-store.ts';
import { withdrawMails } from './mail-store.ts';
import { preferencesOf, setPreference } from './preferences-store.ts';
import type { NotificationView, PreferencesView, UpdatePreferences } from './schema.ts';
import { createUnsubscribeLinks } from './unsubscribe-link.ts';
import { notificationView } from './view.ts';

export type NotificationService = ReturnType<typeof createNotificationService>;

/** The inbox of each user, and when its notifications are emailed. */
export function createNotificationService({
  config,
  database,
  clock,
  sealer,
}: Pick<Platform, 'config' | 'database' | 'clock' | 'sealer'>) {
  const { reader } = database;
  const links = createUnsubscribeLinks(sealer, config.publicUrl);

  /** Stores choices. Emails that wait follow the new choice from the next event on. */
  async function choose({ queries }: Transaction, userId: string, wanted: UpdatePreferences): Promise<void> {
    for (const category of CATEGORY_NAMES) {
      const email = wanted[category];
      if (email === undefined) continue;
      await setPreference(queries, { user_id: userId, category }, email, timestamp(clock));
      if (email === 'never') await withdrawMails(queries, userId, category);
    }
  }

  async function preferences(caller: Pick<Caller, 'userId' | 'within'>): Promise<PreferencesView> {
    const rows = await preferencesOf(readerFor(database, caller), caller.userId);
    const chosen = new Map(rows.map((row) => [row.category, row.email]));
    return {
      categories: CATEGORY_NAMES.map((category) => {
        const { title, description, email } = NOTIFICATION_CATEGORIES[category];
        return {
          category,
          title,
          description,
          email: EMAIL_CHOICES.find((choice) => choice === chosen.get(category)) ?? 'default',
          default_email: email,
        };
      }),
    };
  }

  return {
    /** The notifications that the caller may see now, latest first. */
    async list(
      caller: Caller,
      filter: Omit<NotificationFilter, 'ids'>,
      page: PageRequest,
    ): Promise<PageOf<NotificationView>> {
      const scope = await loadScope(reader, caller, filter.account_id);
      const { count, results } = await pageOfNotifications(reader, scope, filter, page);
      return { count, results: results.map(notificationView) };
    },

    /** Marks one as read or unread. Throws NotFound, Conflict. */
    async mark(caller: Caller, id: string, isRead: boolean): Promise<NotificationView> {
      const found = await changeFor(database, caller, async ({ queries }) => {
        const scope = await loadScope(queries, caller);
        const present = await pageOfNotifications(queries, scope, { ids: [id] }, { limit: 1, offset: 0 });
        if (present.results[0] === undefined) throw new NotFound();
        if ((present.results[0].read_at !== null) === isRead) return present.results[0];
        await markNotifications(queries, scope, { ids: [id] }, isRead ? timestamp(clock) : null).catch(
          (error: unknown) => {
            if (uniqueViolation(error)?.startsWith('notifications.user_id')) throw repeated();
            throw error;
          },
        );
        return (await pageOfNotifications(queries, scope, { ids: [id] }, { limit: 1, offset: 0 })).results[0];
      });
      if (found === undefined) throw new NotFound();
      return notificationView(found);
    },

    /** Marks all that the caller may see as read. Returns how many were unread. */
    readAll: (caller: Caller): Promise<number> =>
      changeFor(database, caller, async ({ queries }) => {
        const scope = await loadScope(queries, caller);
        return markNotifications(queries, scope, { isRead: false }, timestamp(clock));
      }),

    preferences,

    /** Changes the choices of the caller. Throws Forbidden for credentials with limits: preferences are for all accounts. */
    async updatePreferences(caller: Caller, wanted: UpdatePreferences): Promise<PreferencesView> {
      if (caller.limits?.accountId) throw new Forbidden();
      await changeFor(database, caller, (transaction) => choose(transaction, caller.userId, wanted));
      return preferences(caller);
    },

    /** The categories of a link in an email; null if it was not made here. */
    categoriesOfLink: (token: string): readonly NotificationCategory[] | null =>
      links.read(token)?.categories ?? null,

    /** Ends the emails of the categories of a link. Returns them; null if the link was not made here. */
    async unsubscribe(token: string): Promise<readonly NotificationCategory[] | null> {
      const link = links.read(token);
      if (link === null) return null;
      const never = Object.fromEntries(link.categories.map((category) => [category, 'never']));
      await database.write((transaction) => choose(transaction, link.userId, never));
      return link.categories;
    },
  };
}

const repeated = () => new Conflict('A newer notification about the same problem is unread');
