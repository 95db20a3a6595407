import type { DatabaseLinkRefused } from '../contract/database-access.ts';
import type { Runtime } from '../contract/install-state.ts';
import type { LogRefused } from '../contract/logs.ts';
import type { MailRefused } from '../contract/mail.ts';
import type { LoginRefused } from '../contract/wordpress-login.ts';
import type { WpCliRefused } from '../contract/wp-cli.ts';

/** Why a host without PHP does nothing with WordPress. */
const NO_WORDPRESS = 'This install has no WordPress: its host serves static websites.';

/** Why the embedded host does not do something with a WordPress that it runs. */
export const NOT_EMBEDDED = 'The embedded host does not offer this for WordPress. A Linux host does.';

/** The answer of a host without PHP to what needs WordPress. */
export const STATIC_ONLY: LoginRefused & WpCliRefused = {
  refused: 'website',
  reason: NO_WORDPRESS,
};

/** The answer of a host without PHP to requests for links to databases. */
export const NO_DATABASE: DatabaseLinkRefused = {
  refused: 'website',
  reason: 'This install has no database: its host serves static websites.',
};

/** The answer of a host without PHP to questions about mail. */
export const NO_MAIL: MailRefused = {
  refused: 'website',
  reason: 'This install sends no mail: its host serves static websites.',
};

/** The answer of a host without PHP to requests for logs. */
export const NO_LOGS: LogRefused = {
  refused: 'unsupported',
  reason: 'This install has no logs: its host serves static websites, and counts their requests only.',
};

/** Why the embedded host does not do with an install what needs a Linux host. */
export const reasonOfEmbedded = ({ runtime }: { runtime: Runtime | null }): string =>
  runtime === 'wordpress' ? NOT_EMBEDDED : STATIC_ONLY.reason;
