import type { Queries } from '../../../database/database.ts';
import { insertAccount } from '../accounts/store.ts';
import { insertMember, insertPerson } from './store.ts';

/** An account with the person whom it belongs to, before either is known. */
export interface OwnedAccount {
  account: { id: string; name: string };
  owner: { id: string; email: string; first_name: string; last_name: string };
  created_at: string;
}

/** Writes both down; the owner has joined. */
export async function insertOwnedAccount(
  queries: Queries,
  { account, owner, created_at }: OwnedAccount,
): Promise<void> {
  await insertAccount(queries, { ...account, created_at });
  await insertPerson(queries, { ...owner, created_at });
  const membership = { account_id: account.id, user_id: owner.id };
  await insertMember(queries, { ...membership, role: 'owner', billing: false, created_at });
}
