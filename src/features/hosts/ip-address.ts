import ipaddr from 'ipaddr.js';

/** Normalizes an IP address. Null for other text and for the unspecified address, at which nothing is reached. */
export function parseIpAddress(text: string): string | null {
  // Refuses short forms: 10.1 would mean 10.0.0.1.
  const isAddress =
    ipaddr.IPv4.isValidFourPartDecimal(text) || (ipaddr.IPv6.isValid(text) && !text.includes('%'));
  if (!isAddress) return null;
  const address = ipaddr.parse(text);
  return address.range() === 'unspecified' ? null : address.toString();
}
