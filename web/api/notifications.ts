import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { type BodyOf, type HostingPaths, hosting } from './client.ts';
import { unwrap } from './failure.ts';

type Inbox = HostingPaths['/user/notifications']['get'];
type Preferences = HostingPaths['/user/notification_preferences'];

export type Notification = BodyOf<Inbox>['results'][number];
export type Preference = BodyOf<Preferences['get']>['categories'][number];

/** Beginning of the query keys of the inbox. It has no account, so each live change of the topic concerns it. */
export const INBOX_KEY = ['notification', undefined] as const;
export const PREFERENCES_KEY = ['notification-preferences'] as const;

export const NOTIFICATIONS_A_PAGE = 50;

/** Loads a page of the inbox, latest first. */
export function useNotifications(isUnread: boolean, offset: number) {
  return useQuery({
    queryKey: [...INBOX_KEY, 'page', isUnread, offset],
    placeholderData: keepPreviousData,
    queryFn: () =>
      unwrap(
        hosting.GET('/user/notifications', {
          params: {
            query: { limit: NOTIFICATIONS_A_PAGE, offset, ...(isUnread && { read: 'false' as const }) },
          },
        }),
      ),
  });
}

/** Loads the number of unread notifications. */
export function useUnreadCount() {
  return useQuery({
    queryKey: [...INBOX_KEY, 'unread'],
    queryFn: async () =>
      (
        await unwrap(
          hosting.GET('/user/notifications', { params: { query: { limit: 0, read: 'false' as const } } }),
        )
      ).count,
  });
}

export function markNotification(id: string, read: boolean): Promise<Notification> {
  return unwrap(
    hosting.PATCH('/user/notifications/{notification_id}', {
      params: { path: { notification_id: id } },
      body: { read },
    }),
  );
}

export const markAllNotifications = () => unwrap(hosting.POST('/user/notifications/read_all'));

export function usePreferences() {
  return useQuery({
    queryKey: PREFERENCES_KEY,
    queryFn: async () => (await unwrap(hosting.GET('/user/notification_preferences'))).categories,
  });
}

export async function choosePreference({ category, email }: Pick<Preference, 'category' | 'email'>) {
  const body: NonNullable<Preferences['patch']['requestBody']>['content']['application/json'] = {
    [category]: email,
  };
  return (await unwrap(hosting.PATCH('/user/notification_preferences', { body }))).categories;
}
