/** When the emails of a category go out. `default`: as {@link NOTIFICATION_CATEGORIES} says for owners and people who started the work. */
export const EMAIL_CHOICES = ['default', 'immediately', 'daily', 'never'] as const;
export type EmailChoice = (typeof EMAIL_CHOICES)[number];

/**
 * The categories of notifications: what users switch on and off. The inbox always has them. `email`: the default for the owners of the
 * account and for the person who started the work; other people get emails only by choice.
 */
export const NOTIFICATION_CATEGORIES = {
  backups: {
    title: 'Backups',
    description: 'Backups, restores and archives that fail.',
    email: 'immediately',
  },
  operations: {
    title: 'Failed operations',
    description: 'Installs, copies, imports, updates and settings that fail.',
    email: 'immediately',
  },
  uptime: {
    title: 'Uptime',
    description: 'Websites that do not answer, and websites that answer again.',
    email: 'immediately',
  },
  domains: {
    title: 'Domains',
    description: 'Domains that no longer lead to your website.',
    email: 'immediately',
  },
  certificates: {
    title: 'Certificates',
    description: 'Certificates that cannot be issued or that expire soon.',
    email: 'immediately',
  },
  usage: {
    title: 'Usage',
    description: 'Accounts that reach 80 % or 100 % of a limit, and installs that reach 80, 90 or 100 %.',
    email: 'immediately',
  },
  webhooks: {
    title: 'Webhooks',
    description: 'Webhooks that Homeport switches off after failed deliveries.',
    email: 'immediately',
  },
  finished: {
    title: 'Finished work',
    description: 'Backups, restores, archives, copies and imports that you started and that are finished.',
    email: 'never',
  },
} as const satisfies Record<
  string,
  { title: string; description: string; email: Exclude<EmailChoice, 'default'> }
>;

export type NotificationCategory = keyof typeof NOTIFICATION_CATEGORIES;

export function isNotificationCategory(text: string): text is NotificationCategory {
  return Object.hasOwn(NOTIFICATION_CATEGORIES, text);
}

/** The names of all categories, in the order in which people see them. */
export const CATEGORY_NAMES: readonly NotificationCategory[] =
  Object.keys(NOTIFICATION_CATEGORIES).filter(isNotificationCategory);
