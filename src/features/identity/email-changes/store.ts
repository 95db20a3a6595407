import type { Insertable } from 'kysely';
import type { Queries } from '../../../database/database.ts';
import type { Tables } from '../../../database/tables.ts';
import { deleteEmailChangeOf } from '../users/mailed-links-store.ts';

/** Makes it the one change that its person has asked for. */
export async function replaceEmailChange(
  queries: Queries,
  change: Insertable<Tables['email_changes']>,
): Promise<void> {
  await deleteEmailChangeOf(queries, change.user_id);
  await queries.insertInto('email_changes').values(change).execute();
}

/** What was asked for, if nothing has taken its place since. */
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

/** The token that the next mail carries. Returns false if there is no such change any more. */
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

/** The person's own change that a link stands for, while it works. */
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

/** Deletes those whose link can be used no more. `now`: as times are stored. */
export async function deleteExpiredEmailChanges(queries: Queries, now: string): Promise<void> {
  await queries.deleteFrom('email_changes').where('expires_at', '<=', now).execute();
}
