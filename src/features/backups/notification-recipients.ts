import type { Queries } from '../../database/database.ts';
import { emailKey } from '../identity/users/store.ts';
import { emailKeysOfMembers } from './store.ts';

/** Drops addresses that differ only in spelling from a later one. */
export function withoutDuplicates(addresses: readonly string[]): string[] {
  return [
    ...new Map(addresses.toReversed().map((address) => [emailKey(address), address])).values(),
  ].toReversed();
}

/** The addresses that belong to no member of the install's account with an accepted invitation. */
export async function nonMembers(
  queries: Queries,
  installId: string,
  addresses: readonly string[],
): Promise<string[]> {
  if (addresses.length === 0) return [];
  const known = new Set(await emailKeysOfMembers(queries, installId, addresses.map(emailKey)));
  return addresses.filter((address) => !known.has(emailKey(address)));
}
