import { createHmac, timingSafeEqual } from 'node:crypto';
import { parseUuid } from '../../../lib/ids.ts';
import { isNotificationCategory, type NotificationCategory } from '../../../lib/notification-categories.ts';
import type { Sealer } from '../../../secrets/sealer.ts';

/** Where emails are switched off, below the public URL. */
export const UNSUBSCRIBE_PATH = '/unsubscribe';

/** The emails that a link switches off. */
export interface Unsubscription {
  userId: string;
  categories: readonly NotificationCategory[];
}

/** Signed links that switch off emails without signing in (RFC 8058). They do not expire, because emails are kept for years. */
export interface UnsubscribeLinks {
  linkFor(unsubscription: Unsubscription): string;
  /** Null if the token was not made here. */
  read(token: string): Unsubscription | null;
}

export function createUnsubscribeLinks(sealer: Pick<Sealer, 'derive'>, publicUrl: string): UnsubscribeLinks {
  const key = Buffer.from(sealer.derive('unsubscribe-links'), 'base64url');
  const signatureOf = (text: string) => createHmac('sha256', key).update(text).digest();
  return {
    linkFor({ userId, categories }) {
      const text = `${userId}.${categories.join('-')}`;
      return `${publicUrl.replace(/\/$/, '')}${UNSUBSCRIBE_PATH}/${text}.${signatureOf(text).toString('base64url')}`;
    },
    read(token) {
      const [user = '', names = '', signature = '', ...more] = token.split('.');
      const given = Buffer.from(signature, 'base64url');
      const wanted = signatureOf(`${user}.${names}`);
      if (given.length !== wanted.length || !timingSafeEqual(given, wanted) || more.length > 0) return null;
      const userId = parseUuid(user);
      // Another version of Homeport may have had other categories.
      return userId === undefined
        ? null
        : { userId, categories: names.split('-').filter(isNotificationCategory) };
    },
  };
}
