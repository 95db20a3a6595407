import { OperatorError } from '../../lib/operator-error.ts';
import { parseIpAddress } from './ip-address.ts';

const LABEL = '[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?';
/** The last label is no number: `10.1` would be taken for an address. */
const HOST_NAME = new RegExp(`^(${LABEL}\\.)*(?![0-9]+$)${LABEL}$`);
/** RFC 1035, section 2.3.4. */
const LONGEST_NAME = 253;

/** The form in which the public name of a host is kept: a host name, lower case, or an IP address. Throws OperatorError. */
export function parsePublicName(text: string): string {
  const name = text.toLowerCase().replace(/\.$/, '');
  if (name.length <= LONGEST_NAME && HOST_NAME.test(name)) return name;
  const address = parseIpAddress(text);
  if (address !== null) return address;
  throw new OperatorError(
    `The public name of a host is a host name or an address, like web2.example.com or 203.0.113.7; it is "${text}".`,
  );
}
