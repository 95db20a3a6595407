import type { Clock } from '../../../lib/clock.ts';
import { HOUR_MS } from '../../../lib/durations.ts';
import type { Randomness } from '../../../lib/ids.ts';
import type { InstallRef } from '../../contract/install-ref.ts';
import type { InstallMail } from '../../contract/mail.ts';
import { authorFault } from '../../policy/mail/author.ts';
import { addressesIn, LARGEST_HEAD, parseHead, renderHead } from '../../policy/mail/message-head.ts';
import { LARGEST_MESSAGE, MOST_RECIPIENTS, parseAddress } from '../../policy/mail/recipients.ts';
import type { PhpMail } from '../php/php-sites.ts';
import { sendmailRecipients } from './sendmail-arguments.ts';

/** A message for the platform's mail server. */
export interface OutgoingMail {
  from: string;
  to: string[];
  message: Buffer;
}

/** How websites send email. */
export interface WebsiteMailSettings {
  /** Envelope sender of every message. */
  sender: string;
  /** Recipients that a website may send to within an hour, unless its install has a limit of its own. */
  perHour: number;
  send(mail: OutgoingMail): Promise<void>;
}

/** Sends the email of websites, by the rules of the Linux host. It has no queue: a message that cannot be sent is an error of `mail()`. */
export interface WebsiteMail {
  /** Rejects with a sentence for the website's owner. */
  send(install: InstallRef, perHour: number | undefined, mail: PhpMail): Promise<void>;
  read(installId: string, perHour: number | undefined): InstallMail;
}

interface WebsiteMailOptions extends WebsiteMailSettings {
  siteDomain: string;
  clock: Clock;
  randomness: Randomness;
}

export function createWebsiteMail(options: WebsiteMailOptions): WebsiteMail {
  const { sender, siteDomain, clock, randomness } = options;
  /** Recipients of each message in the last hour, by install. */
  const sent = new Map<string, { atMs: number; recipients: number }[]>();

  function sentLastHour(installId: string): number {
    const since = clock.now().getTime() - HOUR_MS;
    const kept = (sent.get(installId) ?? []).filter(({ atMs }) => atMs > since);
    if (kept.length === 0) sent.delete(installId);
    else sent.set(installId, kept);
    return kept.reduce((sum, { recipients }) => sum + recipients, 0);
  }

  /** Counts recipients. Returns a function that takes them back. */
  function count(installId: string, recipients: number, perHour: number): () => void {
    if (sentLastHour(installId) + recipients > perHour) {
      throw new Error(
        perHour === 0
          ? 'mail of this website is switched off'
          : `the limit of ${perHour} recipients in an hour is reached`,
      );
    }
    const entry = { atMs: clock.now().getTime(), recipients };
    sent.set(installId, [...(sent.get(installId) ?? []), entry]);
    return () => {
      const others = (sent.get(installId) ?? []).filter((one) => one !== entry);
      sent.set(installId, others);
    };
  }

  return {
    async send(install, perHour = options.perHour, mail) {
      const { message } = mail;
      if (message.length > LARGEST_MESSAGE) throw new Error('the message is too large');
      // No more than that, because millions of fields would take the memory of the platform.
      const head = parseHead(message.subarray(0, LARGEST_HEAD), message.length <= LARGEST_HEAD);
      if (head === null) throw new Error('the head of the message is too long');
      const ownDomain = `${install.name}.${siteDomain}`;
      const fault = authorFault(head, { sender, siteDomain, ownDomain });
      if (fault !== null) throw new Error(fault);
      const { fromHead, recipients } = sendmailRecipients(mail.arguments);
      const to = checkedRecipients([...recipients, ...(fromHead ? addressesIn(head) : [])]);
      const takeBack = count(install.id, to.length, perHour);
      try {
        const added = { id: randomness.uuid(), install, sender, date: clock.now() };
        const body = message.subarray(head.length);
        await options.send({ from: sender, to, message: Buffer.concat([renderHead(head, added), body]) });
      } catch (error) {
        takeBack();
        throw error;
      }
    },

    read: (installId, perHour = options.perHour) => ({
      hasRelay: true,
      limitPerHour: perHour,
      sentLastHour: sentLastHour(installId),
      queued: 0,
      sender,
    }),
  };
}

function checkedRecipients(texts: readonly string[]): string[] {
  const recipients = new Set<string>();
  for (const text of texts) {
    const address = parseAddress(text);
    if (address === null) throw new Error(`${JSON.stringify(text.slice(0, 100))} is not an address`);
    recipients.add(address);
  }
  if (recipients.size === 0) throw new Error('the message has no recipient');
  if (recipients.size > MOST_RECIPIENTS) {
    throw new Error(`the message has more than ${MOST_RECIPIENTS} recipients`);
  }
  return [...recipients];
}
