import type { Insertable } from 'kysely';
import type { Queries } from '../../../database/database.ts';
import type { Tables } from '../../../database/tables.ts';

/** A valid password link and its user. */
export interface OpenPasswordLink {
  user_id: string;
  purpose: 'first' | 'reset';
  /** The hash of the current password. */
  password_hash: string | null;
  email: string;
  first_name: string;
  last_name: string;
}

export function findPasswordLink(
  queries: Queries,
  tokenHash: string,
  now: string,
): Promise<OpenPasswordLink | undefined> {
  return queries
    .selectFrom('password_links as link')
    .innerJoin('users as person', 'person.id', 'link.user_id')
    .select(['link.user_id', 'link.purpose'])
    .select(['person.password_hash', 'person.email', 'person.first_name', 'person.last_name'])
    .where('link.token_hash', '=', tokenHash)
    .where('link.expires_at', '>', now)
    .executeTakeFirst();
}

/** Uses up a link. Returns false if it was used, replaced or has expired. */
export async function takePasswordLink(queries: Queries, tokenHash: string, now: string): Promise<boolean> {
  const { numDeletedRows } = await queries
    .deleteFrom('password_links')
    .where('token_hash', '=', tokenHash)
    .where('expires_at', '>', now)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/**
 * Replaces the user's links with the same purpose. Others stay, because anyone can request a reset mail, which must not
 * invalidate a link from the operator.
 */
export async function replacePasswordLink(
  queries: Queries,
  link: Insertable<Tables['password_links']>,
): Promise<void> {
  await queries
    .deleteFrom('password_links')
    .where('user_id', '=', link.user_id)
    .where('purpose', '=', link.purpose)
    .execute();
  await queries.insertInto('password_links').values(link).execute();
}

export async function setPassword(queries: Queries, userId: string, password_hash: string): Promise<void> {
  await queries.updateTable('users').set({ password_hash }).where('id', '=', userId).execute();
}

/** Deletes expired links. `now`: ISO 8601 in UTC. */
export async function deleteExpiredPasswordLinks(queries: Queries, now: string): Promise<void> {
  await queries.deleteFrom('password_links').where('expires_at', '<=', now).execute();
}
