import type { Mail } from '../../../mail/mailer.ts';
import type { NotificationView } from './schema.ts';

/** Notifications that one email lists. */
export const LISTED_IN_MAIL = 50;

/** An email about notifications, the latest first. `more`: how many it does not list. */
export function notificationMail(
  { email, first_name }: { email: string; first_name: string },
  { listed, more }: { listed: readonly NotificationView[]; more: number },
  publicUrl: string,
): Mail {
  const base = publicUrl.replace(/\/$/, '');
  const [first] = listed;
  const count = listed.length + more;
  return {
    to: email,
    subject: first !== undefined && count === 1 ? first.title : `${count} notifications from Homeport`,
    text: [
      `Hello ${first_name},`,
      '',
      ...listed.flatMap((one) => linesOf(one, base)),
      ...(more > 0 ? [`and ${more} more. All notifications:`, '', `  ${base}/me/notifications`, ''] : []),
    ].join('\n'),
  };
}

function linesOf(
  { title, message, account_name, count, last_at, path }: NotificationView,
  base: string,
): string[] {
  const times = count > 1 ? `${count} times, the last time on ` : '';
  return [
    title,
    ...(message === null ? [] : [`  ${message.replaceAll(/\s+/g, ' ')}`]),
    `  Account ${account_name}, ${times}${last_at.slice(0, 10)} ${last_at.slice(11, 16)} UTC`,
    `  ${base}${path}`,
    '',
  ];
}
