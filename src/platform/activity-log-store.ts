import { type InsertObject, sql } from 'kysely';
import type { Queries } from '../database/database.ts';
import type { Tables } from '../database/tables.ts';

/**
 * First and last name with the address, since anybody may call themselves anything; the address where there is no name.
 * A part of a statement: what it says is so at that moment.
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
  return sql<string>`coalesce(${name}, 'somebody who is gone')`;
}

/** As a part of a statement, like {@link nameOfPerson}. */
export function nameOfCredential(queries: Queries, credentialId: string) {
  return queries.selectFrom('credentials').select('name').where('id', '=', credentialId);
}

/** The accounts whose invitation the person has accepted. */
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
