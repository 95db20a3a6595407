import type { Mail } from '../../../mail/mailer.ts';
import type { Sealer } from '../../../secrets/sealer.ts';
import { createUnsubscribeLinks, type Unsubscription } from './unsubscribe-link.ts';

/** Adds to an email how its reader chooses or stops emails like it. `userId`: undefined for jobs that an earlier version queued. */
export type SubscribedMail = (
  mail: Mail,
  reader: { userId: string | undefined; categories: Unsubscription['categories'] },
) => Mail;

/** The function for every email that follows the preferences of its reader. */
export function createSubscribedMail({
  config: { publicUrl },
  sealer,
}: {
  config: { publicUrl: string };
  sealer: Pick<Sealer, 'derive'>;
}): SubscribedMail {
  const links = createUnsubscribeLinks(sealer, publicUrl);
  const preferences = `${publicUrl.replace(/\/$/, '')}/me/notifications/preferences`;
  return (mail, { userId, categories }) => {
    if (userId === undefined) return mail;
    const link = links.linkFor({ userId, categories });
    return {
      ...mail,
      text: [
        mail.text,
        'Choose which emails you get:',
        '',
        `  ${preferences}`,
        '',
        'Stop emails like this one, without signing in:',
        '',
        `  ${link}`,
        '',
      ].join('\n'),
      // RFC 8058: mail programs show a button that works with one click.
      headers: {
        ...mail.headers,
        'List-Unsubscribe': `<${link}>`,
        'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
      },
    };
  };
}
