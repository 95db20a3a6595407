import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Ranges of ipaddr.js by the word that people know. All others are reserved: for documentation, protocols or later use. */
const WORDS: Readonly<Record<string, string>> = {
  unicast: 'public',
  private: 'private',
  uniqueLocal: 'private',
  carrierGradeNat: 'private',
  loopback: 'loopback',
  linkLocal: 'link-local',
  multicast: 'multicast',
  broadcast: 'broadcast',
  unspecified: 'placeholder',
};

/**
 * The kind of an address that checks may not contact, for sentences: `private`, `loopback`, `reserved` … A public address that is refused
 * all the same belongs to a cloud's metadata service, so it is reserved, too.
 */
export function addressKind(address: string): string {
  if (isIP(address) === 0) return 'reserved';
  const word = WORDS[ipaddr.process(address).range()] ?? 'reserved';
  return word === 'public' ? 'reserved' : word;
}
