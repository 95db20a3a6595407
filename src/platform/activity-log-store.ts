import { type InsertObject, sql } from 'kysely';
import type { Queries } from '../database/database.ts';
import type { Tables } from '../database/tables.ts';

/**
 * SQL for a user's name with their address: "First Last (address)", or the address alone without a name. The address is
 * always part of it, because users choose their names freely.
 */
export function nameOfPerson(queries: Queries, userId: string) {
  const name = queries
    .selectFrom('users')
    .select(
      sql<string>`coalesce(nullif(trim(first_name || ' ' || last_name), '') || ' (' || email || ')', email)`.as(
        'name',
      ),
    )
    .where('id', '=', userId);
  return sql<string>`coalesce(${name}, 'a deleted user')`;
}

/** SQL for a credential's name. */
export function nameOfCredential(queries: Queries, credentialId: string) {
  return queries.selectFrom('credentials').select('name').where('id', '=', credentialId);
}

/** SQL for an install's name. */
export function nameOfInstall(queries: Queries, installId: string) {
  return queries.selectFrom('installs').select('name').where('id', '=', installId);
}

/** The accounts whose invitation the user has accepted, in the order of joining. */
export async function joinedAccounts(queries: Queries, userId: string): Promise<string[]> {
  const memberships = await queries
    .selectFrom('memberships')
    .select('account_id')
    .where('user_id', '=', userId)
    .where('invite_accepted', '=', true)
    .orderBy('seq')
    .execute();
  return memberships.map((membership) => membership.account_id);
}

export async function insertActivity(
  queries: Queries,
  entries: readonly InsertObject<Tables, 'activity'>[],
): Promise<void> {
  await queries.insertInto('activity').values(entries).execute();
}
