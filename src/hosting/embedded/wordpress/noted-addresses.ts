import { join } from 'node:path';
import Type from 'typebox';
import { Value } from 'typebox/value';
import { writeDurably } from '../../../lib/durable-file.ts';
import { hasCode } from '../../../lib/error-code.ts';
import { ifThere } from '../../../lib/if-there.ts';
import { removeTree } from '../snapshots/archive-exchange.ts';
import { readWebsiteText } from './website-text.ts';

/** In the private folder of a website: the addresses that URLs of its database name, as `https://shop.test:8444`. */
export const ADDRESSES_FILE = 'addresses.json';

/** Of the file: thousands of addresses. */
const MOST_BYTES = 256 * 1024;
const Addresses = Type.Array(Type.String());

export const addressesText = (addresses: readonly string[]): string => JSON.stringify(addresses);

/** Writes the file. The website can have a folder in its place. */
export async function noteAddresses(folder: string, addresses: readonly string[]): Promise<void> {
  const file = join(folder, ADDRESSES_FILE);
  const content = addressesText(addresses);
  try {
    await writeDurably(file, content);
  } catch (error) {
    if (!hasCode(error, 'EISDIR', 'ENOTDIR', 'EEXIST', 'ENOTEMPTY')) throw error;
    await removeTree(file);
    await writeDurably(file, content);
  }
}

/** The noted addresses. None if the file is missing or unreadable. */
export async function notedAddresses(folder: string): Promise<string[]> {
  return addressesIn(await ifThere(readWebsiteText(join(folder, ADDRESSES_FILE), MOST_BYTES)));
}

/** The hosts, with their ports, of the noted addresses whose URLs differ from those of `origin`. */
export function formerHosts(addresses: readonly string[], origin: string): string[] {
  const present = new URL(origin);
  return addresses.flatMap((noted) => {
    // Versions before 0.4 noted the host without its scheme.
    const former = URL.parse(noted.includes('://') ? noted : `${present.protocol}//${noted}`);
    if (former === null) return [];
    const { host, hostname, protocol } = former;
    // URLs with HTTPS stay if it is no longer forced, because a certificate that expired can be renewed.
    const isSecured = present.protocol === 'https:' && protocol !== 'https:';
    if (host === present.host && !isSecured) return [];
    // Only the port has changed.
    const isBare = host === present.hostname && protocol === present.protocol && present.port !== '';
    return [isBare ? `${hostname}:${protocol === 'https:' ? 443 : 80}` : host];
  });
}

export function addressesIn(text: string | null): string[] {
  if (text === null) return [];
  try {
    const value: unknown = JSON.parse(text);
    return Value.Check(Addresses, value) ? value : [];
  } catch {
    return [];
  }
}
