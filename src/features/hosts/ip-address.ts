import ipaddr from 'ipaddr.js';

/** An address as it is kept. Null for what is none, and for that which means any: nobody reaches anything at it. */
export function parseIpAddress(text: string): string | null {
  // Not the short forms of old: 10.1 would be 10.0.0.1.
  const isAddress =
    ipaddr.IPv4.isValidFourPartDecimal(text) || (ipaddr.IPv6.isValid(text) && !text.includes('%'));
  if (!isAddress) return null;
  const address = ipaddr.parse(text);
  return address.range() === 'unspecified' ? null : address.toString();
}
