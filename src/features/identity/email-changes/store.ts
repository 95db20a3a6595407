import type { Insertable } from 'kysely';
import type { Queries } from '../../../database/database.ts';
import type { Tables } from '../../../database/tables.ts';
import { deleteEmailChangeOf } from '../users/mailed-links-store.ts';

/** Stores a change, replacing the user's earlier one. */
export async function replaceEmailChange(
  queries: Queries,
  change: Insertable<Tables['email_changes']>,
): Promise<void> {
  await deleteEmailChangeOf(queries, change.user_id);
  await queries.insertInto('email_changes').values(change).execute();
}

/** Finds a change by its id; undefined if it was replaced or dropped. */
export function findEmailChange(
  queries: Queries,
  id: string,
): Promise<{ user_id: string; email: string } | undefined> {
  return queries
    .selectFrom('email_changes')
    .select(['user_id', 'email'])
    .where('id', '=', id)
    .executeTakeFirst();
}

/** Sets the token for the next mail. Returns false if the change no longer exists. */
export async function setEmailChangeToken(
  queries: Queries,
  id: string,
  token: { token_hash: string; expires_at: string },
): Promise<boolean> {
  const { numUpdatedRows } = await queries
    .updateTable('email_changes')
    .set(token)
    .where('id', '=', id)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Finds the user's change by a valid link token. */
export function findEmailChangeByToken(
  queries: Queries,
  { userId, tokenHash, now }: { userId: string; tokenHash: string; now: string },
): Promise<{ email: string } | undefined> {
  return queries
    .selectFrom('email_changes')
    .select('email')
    .where('user_id', '=', userId)
    .where('token_hash', '=', tokenHash)
    .where('expires_at', '>', now)
    .executeTakeFirst();
}

/** Deletes changes whose link has expired. `now`: ISO 8601 in UTC. */
export async function deleteExpiredEmailChanges(queries: Queries, now: string): Promise<void> {
  await queries.deleteFrom('email_changes').where('expires_at', '<=', now).execute();
}
