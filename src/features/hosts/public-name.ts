import { HOST_LABEL, MAX_HOST_NAME } from '../../lib/host-names.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import { parseIpAddress } from './ip-address.ts';

/** The last label is not a number, because `10.1` would be read as an address. */
const PUBLIC_NAME = new RegExp(`^(${HOST_LABEL}\\.)*(?![0-9]+$)${HOST_LABEL}$`);

/** Normalizes the public name of a host: a lower-case host name or an IP address. Throws OperatorError. */
export function parsePublicName(text: string): string {
  const name = text.toLowerCase().replace(/\.$/, '');
  if (name.length <= MAX_HOST_NAME && PUBLIC_NAME.test(name)) return name;
  const address = parseIpAddress(text);
  if (address !== null) return address;
  throw new OperatorError(
    `The public name of a host is a host name or an address, like web2.example.com or 203.0.113.7; it is "${text}".`,
  );
}
