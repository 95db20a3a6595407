import type { Queries } from '../../database/database.ts';
import { emailKey } from '../user/email-key.ts';

/** Addresses that are the same but for how they are typed are one. */
export function eachOnce(addresses: readonly string[]): string[] {
  return [
    ...new Map(addresses.toReversed().map((address) => [emailKey(address), address])).values(),
  ].toReversed();
}

/** Those of the addresses that no member of the install's account has who has accepted the invitation. */
export async function strangersAmong(
  queries: Queries,
  installId: string,
  addresses: readonly string[],
): Promise<string[]> {
  if (addresses.length === 0) return [];
  const members = await queries
    .selectFrom('installs as install')
    .innerJoin('memberships as member', 'member.account_id', 'install.account_id')
    .innerJoin('users as person', 'person.id', 'member.user_id')
    .select('person.email_key')
    .where('install.id', '=', installId)
    .where('member.invite_accepted', '=', true)
    .where('person.email_key', 'in', addresses.map(emailKey))
    .execute();
  const known = new Set(members.map(({ email_key }) => email_key));
  return addresses.filter((address) => !known.has(emailKey(address)));
}
