import type { Clock } from '../../../lib/clock.ts';
import { defaultDomain } from '../../../lib/default-domain.ts';
import { HOUR_MS } from '../../../lib/durations.ts';
import { messageOf } from '../../../lib/error-message.ts';
import type { Randomness } from '../../../lib/ids.ts';
import type { InstallRef } from '../../contract/install-ref.ts';
import type { MailEvent } from '../../contract/logs.ts';
import type { InstallMail } from '../../contract/mail.ts';
import { type AppendMailLog, mailLogEntry } from '../../policy/mail/mail-log.ts';
import { addressesIn, LARGEST_HEAD, type MessageHead, parseHead } from '../../policy/mail/message-head.ts';
import { outgoingHead } from '../../policy/mail/outgoing-head.ts';
import { LARGEST_MESSAGE, MOST_RECIPIENTS, parseAddress } from '../../policy/mail/recipients.ts';
import type { PhpMail } from '../../runtime/wasm/php-sites.ts';
import type { MailRefusals } from './mail-refusals.ts';
import { sendmailRecipients } from './sendmail-arguments.ts';

/** A message for the platform's mail server. */
export interface OutgoingMail {
  from: string;
  to: string[];
  message: Buffer;
}

/** How websites send email. */
export interface WebsiteMailSettings {
  /** Whether the platform has a mail server. Without one, messages are written to its data folder. */
  hasServer: boolean;
  /** Envelope sender of the messages of an install. */
  senderOf(installName: string): string;
  /** The address from which the platform sends its own email by the same mail server. */
  platformAddress: string;
  /** The host name of the portal. */
  portalHost: string;
  /** Recipients that a website may send to within an hour, unless its install has a limit of its own. */
  perHour: number;
  send(mail: OutgoingMail): Promise<void>;
}

/** Sends the email of websites, by the rules of the Linux host. It has no queue: a message that cannot be sent is an error of `mail()`. */
export interface WebsiteMail {
  /** Rejects with a sentence for the website's owner. */
  send(install: InstallRef, perHour: number | undefined, mail: PhpMail): Promise<void>;
  read(install: InstallRef, perHour: number | undefined): Promise<InstallMail>;
}

interface WebsiteMailOptions extends WebsiteMailSettings {
  siteDomain: string;
  refusals: MailRefusals;
  appendLog: AppendMailLog;
  clock: Clock;
  randomness: Randomness;
}

const WITHOUT_SERVER =
  'The platform has no mail server, so the message is only in its data folder. Ask your provider.';

export function createWebsiteMail(options: WebsiteMailOptions): WebsiteMail {
  const { senderOf, platformAddress, portalHost, siteDomain, refusals, appendLog, clock, randomness } =
    options;
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

  async function forward(mail: OutgoingMail): Promise<void> {
    try {
      await options.send(mail);
    } catch (error) {
      throw new Error(sentenceOf(error), { cause: error });
    }
  }

  return {
    async send(install, perHour = options.perHour, mail) {
      const { fromHead, recipients } = sendmailRecipients(mail.arguments);
      const sender = senderOf(install.name);
      const bytes = mail.message.length;
      let wanted = recipients;
      /** Null before the rules admit it. */
      let id: string | null = null;
      const append = (event: MailEvent, reason: string | null) =>
        appendLog(install.id, mailLogEntry({ id, sender, recipients: wanted, bytes }, event, reason));
      try {
        const head = headOf(mail.message);
        if (fromHead) wanted = [...recipients, ...addressesIn(head)];
        const names = {
          install,
          sender,
          platformAddress,
          portalHost,
          siteDomain,
          ownDomain: defaultDomain(install.name, siteDomain),
        };
        const messageId = randomness.uuid();
        const outgoing = outgoingHead(head, names, { id: messageId, date: clock.now() });
        if ('fault' in outgoing) throw new Error(outgoing.fault);
        const to = checkedRecipients(wanted);
        const takeBack = count(install.id, to.length, perHour);
        id = messageId;
        const message = Buffer.concat([outgoing.head, mail.message.subarray(head.length)]);
        await forward({ from: sender, to, message }).catch((error: unknown) => {
          takeBack();
          throw error;
        });
        append('sent', options.hasServer ? null : WITHOUT_SERVER);
      } catch (error) {
        append(id === null ? 'refused' : 'failed', messageOf(error));
        await refusals.add(install.id, { reason: messageOf(error), recipients: wanted });
        throw error;
      }
    },

    read: async (install, perHour = options.perHour) => ({
      hasRelay: options.hasServer,
      limitPerHour: perHour,
      sentLastHour: sentLastHour(install.id),
      queued: 0,
      sender: senderOf(install.name),
      refusals: await refusals.read(install.id),
    }),
  };
}

function headOf(message: Buffer): MessageHead {
  if (message.length > LARGEST_MESSAGE) throw new Error('the message is too large');
  // No more than that, because millions of fields would take the memory of the platform.
  const head = parseHead(message.subarray(0, LARGEST_HEAD), message.length <= LARGEST_HEAD);
  if (head === null) throw new Error('the head of the message is too long');
  return head;
}

/** Tells the owner of a website why the mail server failed, without its address. */
function sentenceOf(error: unknown): string {
  const answer = error instanceof Error && 'response' in error ? error.response : undefined;
  return typeof answer === 'string' && answer !== ''
    ? `the mail server of the platform refused the message: ${answer}`
    : 'the mail server of the platform does not answer; try again in a minute';
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
