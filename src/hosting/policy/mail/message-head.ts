import addressparser from 'nodemailer/lib/addressparser';

/** The largest head of a message. WordPress sends a few hundred bytes. */
export const LARGEST_HEAD = 256 * 1024;

/** A header field with its folded lines, without the final line break. */
interface Field {
  /** In lower case. */
  name: string;
  text: string;
}

/** The head of a message, as the website wrote it. */
export interface MessageHead {
  fields: Field[];
  /** Bytes of the head, including the empty line; the body follows. */
  length: number;
}

/** Facts that the host adds to a message. */
export interface AddedFields {
  /** UUID of the message in the queue. */
  id: string;
  install: { name: string };
  sender: string;
  date: Date;
}

const FIELD = /^([!-9;-~]+)[ \t]*:/;
const LINE_END = /\r\n|\r|\n/g;
/** Fields that name recipients for `-t`. */
const ADDRESSES = ['to', 'cc', 'bcc'];
/** Trace fields, which only the host writes (RFC 5321 section 4.4), and recipients that no one may see. */
const DROPPED = new Set(['bcc', 'resent-bcc', 'received', 'return-path', 'x-homeport-message']);

/**
 * Parses the head of a message. Null if it has not ended yet. `isWhole`: nothing follows. The head ends before the first line that is no
 * field, so that a text without any is a body.
 */
export function parseHead(text: Buffer, isWhole: boolean): MessageHead | null {
  // One character for each byte, so that positions match.
  const lines = text.toString('latin1');
  const fields: Field[] = [];
  let start = 0;
  for (const end of lines.matchAll(LINE_END)) {
    const next = end.index + end[0].length;
    // The line feed of this line end may be in the next part.
    if (end[0] === '\r' && next === lines.length && !isWhole) return null;
    const line = lines.slice(start, end.index);
    if (line === '') return { fields, length: next };
    if (!addLine(fields, line, start === 0)) return { fields, length: start };
    start = next;
  }
  if (!isWhole) return null;
  const rest = lines.slice(start);
  return { fields, length: rest === '' || addLine(fields, rest, start === 0) ? lines.length : start };
}

/** A line end and an empty line after it, in one character for each byte. */
const EMPTY_LINE = /\n[\r\n]|\r\r/g;

/** Finds the end of a head that arrives in parts. */
export interface HeadSearch {
  /** Adds a part. True once everything up to the empty line is there, so that {@link parseHead} can parse it. */
  add(part: Buffer): boolean;
}

/** Creates a search that reads each byte once: parsing after every part would take quadratic time. */
export function createHeadSearch(): HeadSearch {
  // An empty first line ends the head, too.
  let before = '\n';
  return {
    add(part) {
      const text = before + part.toString('latin1');
      before = text.slice(-2);
      // A line feed may follow the match in the next part.
      for (const { index } of text.matchAll(EMPTY_LINE)) return index + 2 < text.length;
      return false;
    },
  };
}

/** False if the line belongs to the body. */
function addLine(fields: Field[], line: string, isFirst: boolean): boolean {
  const last = fields.at(-1);
  if (/^[ \t]/.test(line) && last !== undefined) {
    last.text += `\r\n${line}`;
    return true;
  }
  const name = FIELD.exec(line)?.[1];
  // The envelope line of mailbox files, which mail(1) may pass on.
  if (name === undefined) return isFirst && line.startsWith('From ');
  fields.push({ name: name.toLowerCase(), text: line });
  return true;
}

/** The addresses in To, Cc and Bcc, unchecked. */
export function addressesIn({ fields }: MessageHead): string[] {
  return fields
    .filter(({ name }) => ADDRESSES.includes(name))
    .flatMap(({ text }) => addressparser(unfolded(text), { flatten: true }))
    .map(({ address }) => address);
}

/** The value of a field in one line. */
export function unfolded(text: string): string {
  const value = text.slice(text.indexOf(':') + 1).replaceAll('\r\n', '');
  return Buffer.from(value, 'latin1').toString('utf8');
}

/**
 * The head to send. Drops trace fields and Bcc, adds a Received field, and what a message must have: From, Date and Message-ID. A From of
 * the website is kept.
 */
export function renderHead({ fields }: MessageHead, { id, install, sender, date }: AddedFields): Buffer {
  const kept = fields.filter(({ name }) => !DROPPED.has(name));
  const has = (name: string) => kept.some((field) => field.name === name);
  const domain = sender.slice(sender.lastIndexOf('@') + 1);
  const time = mailDate(date);
  const lines = [
    `Received: from ${install.name} (website)\r\n\tby ${domain} (Homeport) with local id ${id};\r\n\t${time}`,
    ...kept.map(({ text }) => text),
    ...(has('from') ? [] : [`From: ${sender}`]),
    ...(has('date') ? [] : [`Date: ${time}`]),
    ...(has('message-id') ? [] : [`Message-ID: <${id}@${domain}>`]),
  ];
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
}

/** RFC 5322 section 3.3. */
function mailDate(date: Date): string {
  return date.toUTCString().replace(/GMT$/, '+0000');
}
