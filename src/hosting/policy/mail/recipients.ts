import { domainToASCII } from 'node:url';
import { HOST_NAME, MAX_HOST_NAME } from '../../../lib/host-names.ts';

/** The most recipients of one message. */
export const MOST_RECIPIENTS = 100;
/** Bytes of the largest message. Most relays accept no larger ones. */
export const LARGEST_MESSAGE = 25 * 1024 * 1024;

/** Dot-atom (RFC 5322 section 3.2.3). Quoted local parts and non-ASCII ones are refused: few relays accept them. */
const LOCAL_PART = /^(?=.{1,64}$)[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/;
const DOMAIN = new RegExp(`^(?=.{1,${MAX_HOST_NAME}}$)${HOST_NAME}$`);

/** Parses an address for SMTP: a plain local part, and the domain in ASCII and lower case. Null for other texts. */
export function parseAddress(text: string): string | null {
  const at = text.lastIndexOf('@');
  if (at === -1) return null;
  const local = text.slice(0, at);
  const domain = domainToASCII(text.slice(at + 1)).toLowerCase();
  return LOCAL_PART.test(local) && DOMAIN.test(domain) ? `${local}@${domain}` : null;
}
