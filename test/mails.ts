import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestHomeport } from './homeport.ts';

export interface ReadMail {
  from: string;
  to: string;
  subject: string;
  text: string;
}

/** The emails to an address that a Homeport without SMTP wrote to its data folder. */
export function mailsTo({ config }: Pick<TestHomeport, 'config'>, address: string): ReadMail[] {
  const folder = join(config.dataDir, 'mail');
  const files = existsSync(folder) ? readdirSync(folder).sort() : [];
  return files
    .map((file) => parseMail(readFileSync(join(folder, file), 'latin1')))
    .filter((mail) => mail.to === address);
}

/** A mail of one part of plain text (RFC 5322, RFC 2045), as octets. */
export function parseMail(octets: string): ReadMail {
  const [head = '', ...body] = octets.split('\r\n\r\n');
  const headers = new Map(
    head
      .replaceAll(/\r\n[ \t]+/g, ' ')
      .split('\r\n')
      .map((line): [string, string] => {
        const colon = line.indexOf(':');
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
      }),
  );
  const raw = body.join('\r\n\r\n');
  const decoded =
    headers.get('content-transfer-encoding') === 'quoted-printable' ? fromQuotedPrintable(raw) : raw;
  return {
    from: headers.get('from') ?? '',
    to: headers.get('to') ?? '',
    subject: headers.get('subject') ?? '',
    text: Buffer.from(decoded, 'latin1').toString('utf8').replaceAll('\r\n', '\n'),
  };
}

/** RFC 2045, section 6.7. */
function fromQuotedPrintable(text: string): string {
  return text
    .replaceAll('=\r\n', '')
    .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}
