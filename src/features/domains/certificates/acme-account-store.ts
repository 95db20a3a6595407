import type { Queries } from '../../../database/database.ts';

/** An account at a certificate authority with its sealed key. The URL is null until it is registered. */
export interface StoredAccount {
  sealed_key: string;
  account_url: string | null;
}

export function findAcmeAccount(queries: Queries, directoryUrl: string): Promise<StoredAccount | undefined> {
  return queries
    .selectFrom('acme_accounts')
    .select(['sealed_key', 'account_url'])
    .where('directory_url', '=', directoryUrl)
    .executeTakeFirst();
}

/** Adds an account. Replaces an existing one only if its sealed key is `unreadable`. */
export async function insertAcmeAccount(
  queries: Queries,
  account: { directory_url: string; sealed_key: string; created_at: string },
  unreadable: string | null,
): Promise<void> {
  await queries
    .insertInto('acme_accounts')
    .values({ ...account, account_url: null })
    .onConflict((conflict) =>
      unreadable === null
        ? conflict.column('directory_url').doNothing()
        : conflict
            .column('directory_url')
            .doUpdateSet({ sealed_key: account.sealed_key, account_url: null })
            .where('acme_accounts.sealed_key', '=', unreadable),
    )
    .execute();
}

export async function setAccountUrl(
  queries: Queries,
  directoryUrl: string,
  url: string | null,
): Promise<void> {
  await queries
    .updateTable('acme_accounts')
    .set({ account_url: url })
    .where('directory_url', '=', directoryUrl)
    .execute();
}
