import type { LoginRefused } from '../contract/host.ts';
import type { MailRefused } from '../contract/mail.ts';

/** The answer of a host without PHP to requests for a login. */
export const STATIC_ONLY: LoginRefused = {
  refused: 'website',
  reason: 'This install has no WordPress: its host serves static websites.',
};

/** The answer of a host without PHP to questions about mail. */
export const NO_MAIL: MailRefused = {
  refused: 'website',
  reason: 'This install sends no mail: its host serves static websites.',
};
