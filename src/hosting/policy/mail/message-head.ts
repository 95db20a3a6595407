import addressparser from 'nodemailer/lib/addressparser';

/** The largest head of a message. WordPress sends a few hundred bytes. */
export const LARGEST_HEAD = 256 * 1024;

/** A header field with its folded lines, without the final line break. */
export interface Field {
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
  /** UUID of the message. */
  id: string;
  install: { name: string };
  /** The default domain of the install. */
  ownDomain: string;
  date: Date;
}

const FIELD = /^([!-9;-~]+)[ \t]*:/;
const LINE_END = /\r\n|\r|\n/g;
/** Fields that name recipients for `-t`. */
const ADDRESSES = ['to', 'cc', 'bcc'];
/**
 * Fields that websites may not write. No one may see Bcc. Only hosts write trace fields (RFC 5321 section 4.4) and results of checks
 * (RFC 8601, RFC 7208, RFC 8617). Some programs show the others in place of From (RFC 5322 section 3.6.6, RFC 9057).
 */
const DROPPED =
  /^(bcc|received|return-path|delivered-to|received-spf|authentication-results|domainkey-signature|author|arc-.*|resent-.*|x-homeport-.*)$/;

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

/** The address of an install: the author of messages without one. It is under the one domain of the provider that the install may use. */
export const ownAddress = (install: { name: string }, ownDomain: string): string =>
  `${install.name}@${ownDomain}`;

/** The head to send. Drops fields that websites may not write. Adds a Received field, and From, Date and Message-ID if they are missing. */
export function completeHead(
  { fields, length }: MessageHead,
  { id, install, ownDomain, date }: AddedFields,
): MessageHead {
  const kept = fields.filter(({ name }) => !DROPPED.test(name));
  const time = mailDate(date);
  const missing = ([name, value]: [string, string]): Field[] =>
    kept.some((field) => field.name === name.toLowerCase())
      ? []
      : [{ name: name.toLowerCase(), text: `${name}: ${value}` }];
  const received = `from ${install.name} (website)\r\n\tby ${ownDomain} (Homeport) with local id ${id};\r\n\t${time}`;
  return {
    fields: [
      { name: 'received', text: `Received: ${received}` },
      ...kept,
      ...missing(['From', ownAddress(install, ownDomain)]),
      ...missing(['Date', time]),
      ...missing(['Message-ID', `<${id}@${ownDomain}>`]),
    ],
    length,
  };
}

export function renderHead({ fields }: MessageHead): Buffer {
  return Buffer.from(`${fields.map(({ text }) => text).join('\r\n')}\r\n\r\n`, 'latin1');
}

/** RFC 5322 section 3.3. */
function mailDate(date: Date): string {
  return date.toUTCString().replace(/GMT$/, '+0000');
}
