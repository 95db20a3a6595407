import type { Updateable } from 'kysely';
import type { Queries } from '../../../database/database.ts';
import type { Tables } from '../../../database/tables.ts';

/** A user with their password hash. */
export interface UserWithPassword {
  id: string;
  email: string;
  first_name: string;
  last_name: string;
  password_hash: string | null;
}

const WITH_PASSWORD = ['id', 'email', 'first_name', 'last_name', 'password_hash'] as const;

/** Normalises an email address to its key in `users.email_key`: trimmed and in lower case. */
export const emailKey = (email: string): string => email.trim().toLowerCase();

export function findUserByEmail(queries: Queries, emailKey: string): Promise<UserWithPassword | undefined> {
  return queries
    .selectFrom('users')
    .select(WITH_PASSWORD)
    .where('email_key', '=', emailKey)
    .executeTakeFirst();
}

export function findUserById(queries: Queries, id: string): Promise<UserWithPassword | undefined> {
  return queries.selectFrom('users').select(WITH_PASSWORD).where('id', '=', id).executeTakeFirst();
}

/** The profile of a user. */
export function findUserProfile(queries: Queries, id: string) {
  return queries
    .selectFrom('users')
    .select(['id', 'email', 'first_name', 'last_name', 'phone', 'mfa_enabled'])
    .where('id', '=', id)
    .executeTakeFirst();
}

export async function updateUser(
  queries: Queries,
  id: string,
  change: Updateable<Tables['users']>,
): Promise<void> {
  await queries.updateTable('users').set(change).where('id', '=', id).execute();
}

/** The accounts that a user has joined, with their role. */
export function findAccountsOf(queries: Queries, userId: string) {
  return queries
    .selectFrom('memberships as member')
    .innerJoin('accounts as account', 'account.id', 'member.account_id')
    .select(['account.id', 'account.name', 'account.nickname', 'account.requires_second_factor'])
    .select(['member.role', 'member.billing'])
    .where('member.user_id', '=', userId)
    .where('member.invite_accepted', '=', true)
    .execute();
}
