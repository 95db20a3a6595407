import type { Queries } from '../../../database/database.ts';
import { deleteInvitationsOf } from '../invitations/store.ts';
import { deletePasswordLinksOf } from '../passwords/store.ts';
import { emailKey } from '../users/email-key.ts';
import { updateUser } from '../users/store.ts';
import { deleteEmailChangeOf } from './store.ts';

/** Gives a person another address. Links that went to the old one stop working. */
export async function moveToAddress(queries: Queries, userId: string, email: string): Promise<void> {
  await updateUser(queries, userId, { email, email_key: emailKey(email) });
  await deletePasswordLinksOf(queries, userId);
  await deleteInvitationsOf(queries, userId);
  await deleteEmailChangeOf(queries, userId);
}
