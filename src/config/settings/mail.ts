import { optional, setting } from './setting.ts';
import { anyText, url, wholeNumber } from './setting-values.ts';

/** Sending of emails, and the lifetime of links in them. */
export const MAIL_SETTINGS = {
  smtpUrl: optional(
    'HOMEPORT_SMTP_URL',
    'none: `.eml` files in the data folder',
    '`smtp://user:password@host:587` or `smtps://…`',
    url(['smtp:', 'smtps:']),
  ),
  mailFrom: setting('HOMEPORT_MAIL_FROM', 'Homeport <homeport@localhost>', 'sender of emails', anyText),
  invitationDays: setting(
    'HOMEPORT_INVITATION_DAYS',
    '7',
    'days until the link in an invitation expires',
    wholeNumber(1, 365),
  ),
};
