import { optional, setting } from './setting.ts';
import { anyText, mailAddress, path, relayUrl, senderPattern, url, wholeNumber } from './setting-values.ts';

/** Sending of emails, and the lifetime of links in them. */
export const MAIL_SETTINGS = {
  smtpUrl: optional(
    'HOMEPORT_SMTP_URL',
    'none: `.eml` files in the data folder',
    '`smtp://user:password@host:587` or `smtps://…`',
    url(['smtp:', 'smtps:']),
  ),
  mailFrom: setting('HOMEPORT_MAIL_FROM', 'Homeport <homeport@localhost>', 'sender of emails', anyText),
  operatorEmail: optional(
    'HOMEPORT_OPERATOR_EMAIL',
    'the address in `HOMEPORT_ACME_CONTACT`',
    'email address of the operator, for warnings about expiring certificates and stopped rollouts',
    mailAddress,
  ),
  invitationDays: setting(
    'HOMEPORT_INVITATION_DAYS',
    '7',
    'days until the link in an invitation expires',
    wholeNumber(1, 365),
  ),
  relayUrl: optional(
    'HOMEPORT_RELAY_URL',
    'none: websites cannot send mail',
    'Linux host: mail server for the messages of websites, `smtp://host:587` (STARTTLS) or `smtps://host:465`; unencrypted only if the host is this machine',
    relayUrl,
  ),
  relayCredentials: optional(
    'HOMEPORT_RELAY_CREDENTIALS',
    'none',
    'Linux host: file with the user name for the relay in its first line and the password in its second',
    path,
  ),
  relaySender: optional(
    'HOMEPORT_RELAY_SENDER',
    'Linux host: `NAME@` the default domain of the install; embedded host: the address in `HOMEPORT_MAIL_FROM`',
    'envelope sender of the messages of websites, where bounces go; `{name}` stands for the name of the install, as in `bounces+{name}@example.com`',
    senderPattern,
  ),
  installMailsPerHour: setting(
    'HOMEPORT_INSTALL_MAILS_PER_HOUR',
    '200',
    'maximum number of recipients that an install sends to within an hour; the same on the control plane and on every Linux host',
    wholeNumber(0, 1_000_000),
  ),
};
