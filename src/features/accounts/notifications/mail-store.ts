import type { Queries } from '../../../database/database.ts';

/** Users with emails that are due, the longest waiting first. */
export async function usersWithDueMail(queries: Queries, now: string, limit: number): Promise<string[]> {
  const rows = await queries
    // Found first: to group them, SQLite would read all notifications in the order of their users.
    .with(
      (wb) => wb('due').materialized(),
      (db) =>
        db.selectFrom('notifications').select(['user_id', 'mail_due_at']).where('mail_due_at', '<=', now),
    )
    .selectFrom('due')
    .select(['user_id', (eb) => eb.fn.min('mail_due_at').as('since')])
    .groupBy('user_id')
    .orderBy('since')
    .limit(limit)
    .execute();
  return rows.map(({ user_id }) => user_id);
}

/** Takes the notifications of a user whose email is due. Returns their ids. */
export async function takeDueMail(queries: Queries, userId: string, now: string): Promise<string[]> {
  const rows = await queries
    .updateTable('notifications')
    .set({ mail_due_at: null, mailed_at: now })
    .where('user_id', '=', userId)
    .where('mail_due_at', '<=', now)
    .returning('id')
    .execute();
  return rows.map(({ id }) => id);
}

/** Stops the emails of a category that wait. */
export async function withdrawMails(queries: Queries, userId: string, category: string): Promise<void> {
  await queries
    .updateTable('notifications')
    .set({ mail_due_at: null })
    .where('user_id', '=', userId)
    .where('category', '=', category)
    .where('mail_due_at', 'is not', null)
    .execute();
}

/** The person who gets an email. Undefined if they never set a password: their address may be mistyped. */
export function findRecipient(queries: Queries, userId: string) {
  return queries
    .selectFrom('users')
    .select(['email', 'first_name'])
    .where('id', '=', userId)
    .where('password_hash', 'is not', null)
    .executeTakeFirst();
}
