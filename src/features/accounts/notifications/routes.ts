import { idParameter, wordParameter } from '../../../api/query.ts';
import { bodyRoute, pagedRoute, type Route, route } from '../../../api/route.ts';
import { CATEGORY_NAMES } from '../../../lib/notification-categories.ts';
import {
  notificationSchema,
  notificationsReadSchema,
  preferencesSchema,
  updateNotificationSchema,
  updatePreferencesSchema,
} from './schema.ts';
import type { NotificationService } from './service.ts';

export function notificationRoutes(notifications: NotificationService): Route[] {
  const tag = 'Notifications';
  return [
    pagedRoute({
      path: '/user/notifications',
      operationId: 'listNotifications',
      summary: 'Your notifications, latest first',
      description:
        'Lists what the user of the credential should know: failed work, problems of domains and certificates, limits, and finished work that they started. Kept for 90 days, 1,000 at most. Those about what you can no longer see are left out.',
      tag,
      errors: [400, 401, 429, 503],
      item: notificationSchema,
      filters: [
        wordParameter('read', ['false', 'true'], 'only unread or only read notifications'),
        wordParameter('category', CATEGORY_NAMES, 'only notifications of this category'),
        idParameter('account_id'),
      ],
      handle: ({ caller, page, filters }) =>
        notifications.list(
          caller,
          {
            category: filters.category,
            account_id: filters.account_id,
            isRead: filters.read === undefined ? undefined : filters.read === 'true',
          },
          page,
        ),
    }),
    bodyRoute({
      method: 'PATCH',
      path: '/user/notifications/:notification_id',
      operationId: 'updateNotification',
      summary: 'Mark a notification as read or unread',
      description:
        'Marks one of your notifications. Answers 409 if a newer notification about the same problem is unread.',
      tag,
      errors: [400, 401, 403, 404, 409, 429, 503],
      success: 200,
      response: notificationSchema,
      body: { resource: 'Notification', schema: updateNotificationSchema },
      handle: ({ caller, id }, { read }) => notifications.mark(caller, id('notification_id'), read),
    }),
    route({
      method: 'POST',
      path: '/user/notifications/read_all',
      operationId: 'readAllNotifications',
      summary: 'Mark all your notifications as read',
      description: 'Marks all notifications that the credential shows as read.',
      tag,
      errors: [401, 403, 429, 503],
      success: 200,
      response: notificationsReadSchema,
      handle: async ({ caller }) => ({ count: await notifications.readAll(caller) }),
    }),
    route({
      method: 'GET',
      path: '/user/notification_preferences',
      operationId: 'getNotificationPreferences',
      summary: 'When your notifications are emailed',
      description:
        'Lists the categories with your choice for each. Security notices are always emailed and have no category.',
      tag,
      errors: [401, 429, 503],
      success: 200,
      response: preferencesSchema,
      handle: ({ caller }) => notifications.preferences(caller),
    }),
    bodyRoute({
      method: 'PATCH',
      path: '/user/notification_preferences',
      operationId: 'updateNotificationPreferences',
      summary: 'Change when your notifications are emailed',
      description:
        'Changes the categories that the body names. `default` follows the default of the category. A credential that is limited to an account cannot change them, because they apply to all accounts.',
      tag,
      errors: [400, 401, 403, 429, 503],
      success: 200,
      response: preferencesSchema,
      body: { resource: 'NotificationPreferences', schema: updatePreferencesSchema },
      handle: ({ caller }, body) => notifications.updatePreferences(caller, body),
    }),
  ];
}
