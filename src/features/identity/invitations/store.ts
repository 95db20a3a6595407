import type { Insertable } from 'kysely';
import type { Queries } from '../../../database/database.ts';
import type { Tables } from '../../../database/tables.ts';

export function findOpenInvitation(queries: Queries, tokenHash: string, now: string) {
  return queries
    .selectFrom('invitations as invitation')
    .innerJoin('accounts as account', 'account.id', 'invitation.account_id')
    .innerJoin('users as person', 'person.id', 'invitation.user_id')
    .select([
      'invitation.account_id',
      'account.name as account_name',
      'invitation.user_id',
      'person.first_name',
      'person.last_name',
      'person.email',
      'person.password_hash',
    ])
    .where('invitation.token_hash', '=', tokenHash)
    .where('invitation.expires_at', '>', now)
    .executeTakeFirst();
}

/** A member of an account, whether or not they have accepted. */
export function findInvited(queries: Queries, accountId: string, userId: string) {
  return queries
    .selectFrom('memberships as member')
    .innerJoin('users as person', 'person.id', 'member.user_id')
    .select(['member.role', 'member.billing', 'member.invite_accepted', 'person.email'])
    .where('member.account_id', '=', accountId)
    .where('member.user_id', '=', userId)
    .executeTakeFirst();
}

/** Stores an invitation link, replacing the earlier one of the membership. */
export async function replaceInvitation(
  queries: Queries,
  invitation: Insertable<Tables['invitations']>,
): Promise<void> {
  await queries
    .deleteFrom('invitations')
    .where('account_id', '=', invitation.account_id)
    .where('user_id', '=', invitation.user_id)
    .execute();
  await queries.insertInto('invitations').values(invitation).execute();
}

/** Uses up a link. Returns false if it was used, replaced or has expired. */
export async function takeInvitation(queries: Queries, tokenHash: string, now: string): Promise<boolean> {
  const { numDeletedRows } = await queries
    .deleteFrom('invitations')
    .where('token_hash', '=', tokenHash)
    .where('expires_at', '>', now)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

export async function deleteExpiredInvitations(queries: Queries, now: string): Promise<void> {
  await queries.deleteFrom('invitations').where('expires_at', '<', now).execute();
}

export async function acceptMembership(queries: Queries, accountId: string, userId: string): Promise<void> {
  await queries
    .updateTable('memberships')
    .set({ invite_accepted: true, invited_first_name: null, invited_last_name: null })
    .where('account_id', '=', accountId)
    .where('user_id', '=', userId)
    .execute();
}

/** Deletes a membership that was not accepted. */
export async function deleteInvitedMember(
  queries: Queries,
  accountId: string,
  userId: string,
): Promise<void> {
  await queries
    .deleteFrom('memberships')
    .where('account_id', '=', accountId)
    .where('user_id', '=', userId)
    .where('invite_accepted', '=', false)
    .execute();
}
