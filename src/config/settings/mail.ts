import { optional, setting } from './setting.ts';
import { anyText, url, wholeNumber } from './setting-values.ts';

/** How mails leave, and for how long the links in them work. */
export const MAIL_SETTINGS = {
  smtpUrl: optional(
    'HOMEPORT_SMTP_URL',
    'none: `.eml` files in the data folder',
    '`smtp://user:password@host:587` or `smtps://…`',
    url(['smtp:', 'smtps:']),
  ),
  mailFrom: setting('HOMEPORT_MAIL_FROM', 'Homeport <homeport@localhost>', 'sender of the mails', anyText),
  invitationDays: setting(
    'HOMEPORT_INVITATION_DAYS',
    '7',
    'days for which the link in an invitation works',
    wholeNumber(1, 365),
  ),
};
