import { generateKeyPairSync } from 'node:crypto';
import type { AcmeAccount, Authority } from '../../acme/authority.ts';
import { timestamp } from '../../clock.ts';
import type { Platform } from '../../platform.ts';

type Parts = Pick<Platform, 'database' | 'sealer' | 'clock'>;

/**
 * The account at the authority: its key is made once, whatever processes ask at the same time, and registered when it
 * has not been. Throws AcmeRefusal.
 */
export async function registeredAccount(
  parts: Parts,
  authority: Authority,
  directoryUrl: string,
  signal: AbortSignal,
): Promise<AcmeAccount & { url: string }> {
  const account = await storedAccount(parts, directoryUrl);
  if (account.url !== null) return { ...account, url: account.url };
  const url = await authority.register(account, signal);
  await rememberUrl(parts, directoryUrl, url);
  return { key: account.key, url };
}

/** The authority does not know the account any more; the next order registers its key anew. */
export async function forgetAccountUrl(parts: Parts, directoryUrl: string): Promise<void> {
  await rememberUrl(parts, directoryUrl, null);
}

/** The URL of the account, if it has been registered; what CAA records may name it by (RFC 8657). */
export async function accountUrl({ database }: Pick<Platform, 'database'>, directoryUrl: string) {
  const row = await database.reader
    .selectFrom('acme_accounts')
    .select('account_url')
    .where('directory_url', '=', directoryUrl)
    .executeTakeFirst();
  return row?.account_url ?? null;
}

async function storedAccount(parts: Parts, directoryUrl: string): Promise<AcmeAccount> {
  return (await findAccount(parts, directoryUrl)) ?? (await makeAccount(parts, directoryUrl));
}

async function makeAccount(parts: Parts, directory_url: string): Promise<AcmeAccount> {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const sealed_key = parts.sealer.seal(privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
  await parts.database.write(({ queries }) =>
    queries
      .insertInto('acme_accounts')
      .values({ directory_url, sealed_key, account_url: null, created_at: timestamp(parts.clock) })
      // Another process may have been first: its key stays.
      .onConflict((conflict) => conflict.column('directory_url').doNothing())
      .execute(),
  );
  const account = await findAccount(parts, directory_url);
  if (account === undefined) throw new Error('the account of the certificate authority is gone');
  return account;
}

async function findAccount(
  { database, sealer }: Parts,
  directoryUrl: string,
): Promise<AcmeAccount | undefined> {
  const row = await database.reader
    .selectFrom('acme_accounts')
    .select(['sealed_key', 'account_url'])
    .where('directory_url', '=', directoryUrl)
    .executeTakeFirst();
  return row && { key: sealer.open(row.sealed_key), url: row.account_url };
}

async function rememberUrl(
  { database }: Pick<Platform, 'database'>,
  directoryUrl: string,
  url: string | null,
): Promise<void> {
  await database.write(({ queries }) =>
    queries
      .updateTable('acme_accounts')
      .set({ account_url: url })
      .where('directory_url', '=', directoryUrl)
      .execute(),
  );
}
