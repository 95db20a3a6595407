import type { Queries } from '../database/database.ts';

/** The owners of an account who accepted their invitation, for mails. */
export function findOwners(
  queries: Queries,
  accountId: string,
): Promise<{ email: string; first_name: string }[]> {
  return queries
    .selectFrom('memberships as member')
    .innerJoin('users as person', 'person.id', 'member.user_id')
    .select(['person.email', 'person.first_name'])
    .where('member.account_id', '=', accountId)
    .where('member.role', '=', 'owner')
    .where('member.invite_accepted', '=', true)
    .orderBy('member.seq')
    .execute();
}
