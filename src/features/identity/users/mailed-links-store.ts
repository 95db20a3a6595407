import type { Queries } from '../../../database/database.ts';
import { emailKey, updateUser } from './store.ts';

/** Changes a user's email address. Links mailed to the old address stop working. */
export async function changeEmailAddress(queries: Queries, userId: string, email: string): Promise<void> {
  await updateUser(queries, userId, { email, email_key: emailKey(email) });
  await deletePasswordLinksOf(queries, userId);
  await deleteInvitationsOf(queries, userId);
  await deleteEmailChangeOf(queries, userId);
}

/** Deletes a user's links to set a password. */
export async function deletePasswordLinksOf(queries: Queries, userId: string): Promise<void> {
  await queries.deleteFrom('password_links').where('user_id', '=', userId).execute();
}

/** Deletes the email change that a user requested and has not confirmed. */
export async function deleteEmailChangeOf(queries: Queries, userId: string): Promise<void> {
  await queries.deleteFrom('email_changes').where('user_id', '=', userId).execute();
}

async function deleteInvitationsOf(queries: Queries, userId: string): Promise<void> {
  await queries.deleteFrom('invitations').where('user_id', '=', userId).execute();
}
