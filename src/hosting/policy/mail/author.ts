import addressparser from 'nodemailer/lib/addressparser';
import { getDomain } from '../../../lib/public-suffixes.ts';
import { type MessageHead, unfolded } from './message-head.ts';
import { parseAddress } from './recipients.ts';

/** The domains that decide which authors a website may name. */
export interface AuthorNames {
  /** The envelope sender. */
  sender: string;
  /** The address from which the platform sends, if its mail server takes the messages: it signs for that address, too. */
  platformAddress?: string;
  /** The host name of the portal, which no website can have. */
  portalHost: string;
  /** The domain that the default domains of all installs are under. */
  siteDomain: string;
  /** The default domain of the install. */
  ownDomain: string;
}

/** Characters of a From or Sender field. It has room for 100 addresses. */
const LONGEST = 8 * 1024;
const FIELDS = ['From', 'Sender'];

/**
 * Why From or Sender must not leave the host; null if they may. The envelope sender aligns SPF with the provider's domain, so DMARC would
 * pass for an address of the provider that a website wrote (RFC 7489 section 3.1.2).
 */
export function authorFault({ fields }: MessageHead, names: AuthorNames): string | null {
  for (const field of FIELDS) {
    const [first, ...others] = fields.filter(({ name }) => name === field.toLowerCase());
    if (first === undefined) continue;
    // Receivers differ in which one they show and check.
    if (others.length > 0) return `the message has more than one ${field} field`;
    const fault = fieldFault(unfolded(first.text), names);
    if (fault !== null) return `${field} ${fault}`;
  }
  return null;
}

function fieldFault(text: string, names: AuthorNames): string | null {
  if (text.length > LONGEST) return 'is too long';
  // biome-ignore lint/suspicious/noControlCharactersInRegex: programs drop or keep them, which makes other addresses.
  if (/[\x00-\x08\x0a-\x1f\x7f]/.test(text)) return 'contains a control character';
  const entries = addressparser(text, { flatten: true });
  const addresses = entries.map(({ address }) => parseAddress(address));
  if (entries.length === 0 || addresses.includes(null)) {
    return 'cannot be read: write plain addresses, such as Shop <hello@shop.example>';
  }
  const mentioned = [...addresses, ...mentionedAddresses(text)];
  for (const address of mentioned) {
    if (address === null) continue;
    const domain = address.slice(address.lastIndexOf('@') + 1);
    if (!isOfProvider(domain, names)) continue;
    return `has an address under a domain of the provider, "${domain}": use a domain of your website`;
  }
  return null;
}

/** Whether a domain, in lower case, is one of the provider that the install may not speak for. */
export function isOfProvider(domain: string, provider: AuthorNames): boolean {
  const { sender, platformAddress = sender, portalHost, siteDomain, ownDomain } = provider;
  if (isUnder(domain, ownDomain)) return false;
  if (isUnder(domain, portalHost)) return true;
  const names = [...[sender, platformAddress].map((one) => one.slice(one.lastIndexOf('@') + 1)), siteDomain];
  return names.some((name) => isUnder(domain, (getDomain(name) ?? name).toLowerCase()));
}

/** Whether a domain is another one, or below it. */
export function isUnder(domain: string, name: string): boolean {
  return domain === name || domain.endsWith(`.${name}`);
}

/**
 * Whatever looks like an address, also in names, comments and encoded words: mail programs show those, and parsers disagree on what is one.
 */
function mentionedAddresses(text: string): string[] {
  const decoded = decodeWords(text);
  const plain = [text, decoded].map((one) => one.replace(/["\\]/g, ''));
  const joined = plain.map((one) => one.replace(/\([^()]*\)|\s/g, ''));
  return [...plain, ...joined].flatMap((one) =>
    [...one.matchAll(/@([^\s<>()[\],;:@]+)/g)].flatMap(([, domain = '']) => {
      // A sentence may end after the name.
      const address = parseAddress(`a@${domain.replace(/\.+$/, '')}`);
      return address === null ? [] : [address];
    }),
  );
}

/** Decodes the encoded words of RFC 2047. Words of unknown charsets are read as Latin-1. */
function decodeWords(text: string): string {
  const adjacent = text.replace(/\?=\s+=\?/g, '?==?');
  return adjacent.replace(
    /=\?([^?\s]+)\?([bq])\?([^?\s]*)\?=/gi,
    (_word, charset: string, encoding, coded: string) => {
      const bytes =
        encoding.toLowerCase() === 'b'
          ? Buffer.from(coded, 'base64')
          : Buffer.from(
              coded
                .replaceAll('_', ' ')
                .replace(/=([0-9a-f]{2})/gi, (_all, hex: string) =>
                  String.fromCharCode(Number.parseInt(hex, 16)),
                ),
              'latin1',
            );
      try {
        // RFC 2231 adds a language after an asterisk.
        return new TextDecoder(charset.replace(/\*.*$/, '')).decode(bytes);
      } catch {
        return bytes.toString('latin1');
      }
    },
  );
}
