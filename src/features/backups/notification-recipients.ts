import type { Queries } from '../../database/database.ts';
import { emailKey } from '../identity/users/store.ts';
import { emailKeysOfMembers } from './store.ts';

/** Addresses that are the same but for how they are typed are one. */
export function withoutDuplicates(addresses: readonly string[]): string[] {
  return [
    ...new Map(addresses.toReversed().map((address) => [emailKey(address), address])).values(),
  ].toReversed();
}

/** Those of the addresses that no member of the install's account has who has accepted the invitation. */
export async function nonMembers(
  queries: Queries,
  installId: string,
  addresses: readonly string[],
): Promise<string[]> {
  if (addresses.length === 0) return [];
  const known = new Set(await emailKeysOfMembers(queries, installId, addresses.map(emailKey)));
  return addresses.filter((address) => !known.has(emailKey(address)));
}
