import { EXAMPLE_ID } from '../../../api/example-ids.ts';
import {
  component,
  nullableString,
  type Static,
  stringEnum,
  Type,
  timestamp,
  uuid,
} from '../../../api/schema.ts';
import {
  CATEGORY_NAMES,
  EMAIL_CHOICES,
  type EmailChoice,
  NOTIFICATION_CATEGORIES,
  type NotificationCategory,
} from '../../../lib/notification-categories.ts';
import { SEVERITIES } from './rules.ts';

export const notificationSchema = component(
  'Notification',
  Type.Object(
    {
      id: uuid(),
      account_id: uuid(),
      account_name: Type.String(),
      install_id: nullableString('the install that it is about; null: the account, or several installs'),
      install_name: nullableString('its name at the time of the event'),
      category: Type.String({ description: `one of ${CATEGORY_NAMES.join(', ')}` }),
      severity: stringEnum(SEVERITIES),
      title: Type.String({ description: 'one sentence' }),
      message: nullableString('the reason, if it is known'),
      retry_operation_id: nullableString(
        'the failed operation, if `POST /operations/{id}/retry` can repeat it; null once the notification is read',
      ),
      path: Type.String({ description: 'the page of the portal that shows more, below its address' }),
      count: Type.Integer({ description: 'number of events; an unread notification counts repetitions' }),
      first_at: timestamp('of the first of these events; ISO 8601, UTC'),
      last_at: timestamp('of the latest of these events; ISO 8601, UTC'),
      read: Type.Boolean(),
    },
    { description: 'Something that the user of the credential should know' },
  ),
  {
    id: EXAMPLE_ID.notification,
    account_id: EXAMPLE_ID.account,
    account_name: 'Example',
    install_id: EXAMPLE_ID.install,
    install_name: 'shop',
    category: 'backups',
    severity: 'error',
    title: 'The backup of shop failed',
    message: 'The disk of the machine is full.',
    retry_operation_id: EXAMPLE_ID.operation,
    path: `/installs/${EXAMPLE_ID.install}/backups`,
    count: 2,
    first_at: '2026-03-01T02:10:00.000Z',
    last_at: '2026-03-02T02:10:00.000Z',
    read: false,
  },
);

export const updateNotificationSchema = component(
  'UpdateNotification',
  Type.Object({ read: Type.Boolean({ description: 'whether you have read it' }) }),
  { read: true },
);

export const notificationsReadSchema = component(
  'NotificationsRead',
  Type.Object({ count: Type.Integer({ description: 'notifications that were unread' }) }),
  { count: 3 },
);

const emailChoice = (description?: string) => stringEnum(EMAIL_CHOICES, description);

const preferenceSchema = component(
  'NotificationPreference',
  Type.Object({
    category: Type.String(),
    title: Type.String(),
    description: Type.String(),
    email: emailChoice('`daily`: one email a day, after 7:00 UTC'),
    default_email: emailChoice('the meaning of `default` for owners and for people who started the work'),
  }),
  {
    category: 'backups',
    title: NOTIFICATION_CATEGORIES.backups.title,
    description: NOTIFICATION_CATEGORIES.backups.description,
    email: 'daily',
    default_email: NOTIFICATION_CATEGORIES.backups.email,
  },
);

export const preferencesSchema = component(
  'NotificationPreferences',
  Type.Object(
    { categories: Type.Array(preferenceSchema) },
    { description: 'When the notifications of each category are emailed. The inbox has all of them.' },
  ),
  {
    categories: [
      {
        category: 'finished',
        title: NOTIFICATION_CATEGORIES.finished.title,
        description: NOTIFICATION_CATEGORIES.finished.description,
        email: 'default',
        default_email: NOTIFICATION_CATEGORIES.finished.email,
      },
    ],
  },
);

const choiceOf = (category: NotificationCategory) =>
  Type.Optional(emailChoice(NOTIFICATION_CATEGORIES[category].description));

export const updatePreferencesSchema = component(
  'UpdateNotificationPreferences',
  Type.Object({
    backups: choiceOf('backups'),
    operations: choiceOf('operations'),
    uptime: choiceOf('uptime'),
    domains: choiceOf('domains'),
    certificates: choiceOf('certificates'),
    usage: choiceOf('usage'),
    webhooks: choiceOf('webhooks'),
    finished: choiceOf('finished'),
  } satisfies Record<NotificationCategory, unknown>),
  { backups: 'daily', finished: 'never' },
);

export type NotificationView = Static<typeof notificationSchema>;
export type PreferencesView = Static<typeof preferencesSchema>;
export type UpdatePreferences = Partial<Record<NotificationCategory, EmailChoice>>;
