import { type FileHandle, open, rm } from 'node:fs/promises';
import {
  addressesIn,
  createHeadSearch,
  LARGEST_HEAD,
  type MessageHead,
  parseHead,
} from '../../policy/mail/message-head.ts';
import { outgoingHead, type SendingInstall } from '../../policy/mail/outgoing-head.ts';
import { LARGEST_MESSAGE, MOST_RECIPIENTS, parseAddress } from '../../policy/mail/recipients.ts';
import type { MailQueue } from './mail-queue.ts';
import type { Exceeded } from './queue-file.ts';

/** Bytes of the longest announcement by perl/sendmail.pl: enough for {@link MOST_RECIPIENTS} and some more to refuse. */
export const LONGEST_ANNOUNCEMENT = 64 * 1024;

/** Exit codes of perl/sendmail.pl (sysexits.h). */
const DATA_ERROR = 65;
const NO_USER = 67;
const UNAVAILABLE = 69;

/** A message is refused. The reason is for the website's owner. */
export class SubmissionRefused extends Error {
  override name = 'SubmissionRefused';
  /** Exit code of sendmail. */
  readonly code: number;
  constructor(code: number, reason: string, options?: ErrorOptions) {
    super(reason, options);
    this.code = code;
  }
}

/** A message that the website announces. */
export interface Announcement {
  bytes: number;
  /** Takes recipients from the head, too. */
  fromHead: boolean;
  /** Unchecked. */
  recipients: string[];
}

/** An install that sends. */
export interface Submitter extends SendingInstall {
  /** Recipients that it may send to within an hour. */
  perHour: number;
}

/** Parses `<bytes>\t<0 or 1>\t<recipients…>`; null if it is anything else. */
export function parseAnnouncement(line: string): Announcement | null {
  const [bytes = '', fromHead, ...recipients] = line.split('\t');
  if (!/^[1-9]\d{0,9}$/.test(bytes) || (fromHead !== '0' && fromHead !== '1')) return null;
  return { bytes: Number(bytes), fromHead: fromHead === '1', recipients };
}

/** Refuses what can be refused before the host reads the message. Returns a function that ends the reservation of its place. */
export async function requireAcceptable(
  queue: Pick<MailQueue, 'refusal' | 'sentLastHour' | 'reserve'>,
  { bytes, recipients }: Announcement,
  { install, perHour }: Submitter,
): Promise<() => void> {
  const reason = await queue.refusal();
  if (reason !== null) throw new SubmissionRefused(UNAVAILABLE, reason);
  if (bytes > LARGEST_MESSAGE) {
    throw new SubmissionRefused(
      DATA_ERROR,
      `the message is larger than ${LARGEST_MESSAGE / 1024 / 1024} MiB`,
    );
  }
  if (recipients.length > MOST_RECIPIENTS) throw tooManyRecipients();
  if (queue.sentLastHour(install.id) + Math.max(1, recipients.length) > perHour) {
    throw refusalOf('perHour', perHour);
  }
  const release = queue.reserve(install.id, bytes);
  if (release === null) throw refusalOf('bytes', perHour);
  return release;
}

/** Reads the announced message and queues it. Returns its recipients. Throws {@link SubmissionRefused}. */
export async function acceptMessage(
  queue: Pick<MailQueue, 'incomingPath' | 'add'>,
  announcement: Announcement,
  submitter: Submitter,
  { id, date, content }: { id: string; date: Date; content: AsyncIterable<Buffer> },
): Promise<string[]> {
  const { install, sender, perHour } = submitter;
  const path = queue.incomingPath(id);
  const file = await open(path, 'wx', 0o600);
  try {
    let head: MessageHead;
    let bytes: number;
    try {
      ({ head, bytes } = await writeMessage(file, content, announcement.bytes, submitter, { id, date }));
    } finally {
      await file.close();
    }
    const recipients = checkedRecipients([
      ...announcement.recipients,
      ...(announcement.fromHead ? addressesIn(head) : []),
    ]);
    const message = { id, install, sender, recipients, bytes, queuedAt: date.getTime() };
    const exceeded = await queue.add(message, perHour);
    if (exceeded !== null) throw refusalOf(exceeded, perHour);
    return recipients;
  } catch (error) {
    if (error instanceof SubmissionRefused) throw error;
    throw new SubmissionRefused(UNAVAILABLE, 'the host could not store the message; try again in a minute', {
      cause: error,
    });
  } finally {
    await rm(path, { force: true });
  }
}

/** Writes the message with the head that the host completes. */
async function writeMessage(
  file: FileHandle,
  content: AsyncIterable<Buffer>,
  announced: number,
  submitter: Submitter,
  added: { id: string; date: Date },
): Promise<{ head: MessageHead; bytes: number }> {
  const parts: Buffer[] = [];
  const search = createHeadSearch();
  let head: MessageHead | null = null;
  let fault: string | null = null;
  let received = 0;
  let bytes = 0;
  const write = async (part: Buffer) => {
    bytes += part.length;
    await file.writeFile(part);
  };
  for await (const part of content) {
    received += part.length;
    if (received > announced) break;
    if (head !== null) {
      // A refused message is read to its end, because its sender reads the answer after that.
      if (fault === null) await write(part);
      continue;
    }
    parts.push(part);
    const isWhole = received === announced;
    if (!search.add(part) && !isWhole && received <= LARGEST_HEAD) continue;
    const start = Buffer.concat(parts);
    head = parseHead(start, isWhole);
    if ((head?.length ?? start.length) > LARGEST_HEAD) {
      throw new SubmissionRefused(DATA_ERROR, 'the head of the message is too long');
    }
    if (head !== null) {
      const outgoing = outgoingHead(head, submitter, added);
      if ('fault' in outgoing) {
        fault = outgoing.fault;
      } else {
        await write(outgoing.head);
        await write(start.subarray(head.length));
      }
    }
    if (received === announced) break;
  }
  if (received !== announced || head === null) {
    throw new SubmissionRefused(DATA_ERROR, 'the message is incomplete');
  }
  if (fault !== null) throw new SubmissionRefused(DATA_ERROR, fault);
  return { head, bytes };
}

function checkedRecipients(texts: readonly string[]): string[] {
  const recipients = new Set<string>();
  for (const text of texts) {
    const address = parseAddress(text);
    if (address === null) {
      throw new SubmissionRefused(NO_USER, `${JSON.stringify(text.slice(0, 100))} is not an address`);
    }
    recipients.add(address);
  }
  if (recipients.size === 0) throw new SubmissionRefused(NO_USER, 'the message has no recipient');
  if (recipients.size > MOST_RECIPIENTS) throw tooManyRecipients();
  return [...recipients];
}

const tooManyRecipients = () =>
  new SubmissionRefused(DATA_ERROR, `the message has more than ${MOST_RECIPIENTS} recipients`);

function refusalOf(exceeded: Exceeded, perHour: number): SubmissionRefused {
  if (exceeded !== 'perHour') {
    return new SubmissionRefused(UNAVAILABLE, 'too many messages of this website wait for the relay');
  }
  return new SubmissionRefused(
    UNAVAILABLE,
    perHour === 0
      ? 'mail of this website is switched off'
      : `the limit of ${perHour} recipients in an hour is reached`,
  );
}
