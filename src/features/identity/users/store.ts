import type { Updateable } from 'kysely';
import type { Queries } from '../../../database/database.ts';
import type { Tables } from '../../../database/tables.ts';

/** Somebody who signs in, or proves that they know their password. */
export interface PersonWithPassword {
  id: string;
  email: string;
  first_name: string;
  last_name: string;
  password_hash: string | null;
}

const WITH_PASSWORD = ['id', 'email', 'first_name', 'last_name', 'password_hash'] as const;

export function findPersonByEmail(
  queries: Queries,
  emailKey: string,
): Promise<PersonWithPassword | undefined> {
  return queries
    .selectFrom('users')
    .select(WITH_PASSWORD)
    .where('email_key', '=', emailKey)
    .executeTakeFirst();
}

export function findPersonById(queries: Queries, id: string): Promise<PersonWithPassword | undefined> {
  return queries.selectFrom('users').select(WITH_PASSWORD).where('id', '=', id).executeTakeFirst();
}

/** A person as they see themselves. */
export function findSignedInUser(queries: Queries, id: string) {
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

/** The accounts that a person has joined, with what they are there. */
export function findAccountsOf(queries: Queries, userId: string) {
  return queries
    .selectFrom('memberships as member')
    .innerJoin('accounts as account', 'account.id', 'member.account_id')
    .select(['account.id', 'account.name', 'member.role', 'member.billing', 'account.requires_second_factor'])
    .where('member.user_id', '=', userId)
    .where('member.invite_accepted', '=', true)
    .execute();
}
