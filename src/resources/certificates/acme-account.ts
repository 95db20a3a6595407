import { generateKeyPairSync } from 'node:crypto';
import type { AcmeAccount, Authority } from '../../acme/authority.ts';
import { timestamp } from '../../clock.ts';
import type { Platform } from '../../platform.ts';

type Parts = Pick<Platform, 'database' | 'sealer' | 'clock' | 'log'>;

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
  const row = await findRow(parts, directoryUrl);
  const account = row && opened(parts, row);
  return account ?? (await makeAccount(parts, directoryUrl, row?.sealed_key ?? null));
}

/** `unreadable`: the sealed key that is there and cannot be opened any more, or null for none. */
async function makeAccount(
  parts: Parts,
  directory_url: string,
  unreadable: string | null,
): Promise<AcmeAccount> {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const sealed_key = parts.sealer.seal(privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
  await parts.database.write(({ queries }) =>
    queries
      .insertInto('acme_accounts')
      .values({ directory_url, sealed_key, account_url: null, created_at: timestamp(parts.clock) })
      // Another process may have been first: its key stays. One that cannot be opened any more serves nobody.
      .onConflict((conflict) =>
        unreadable === null
          ? conflict.column('directory_url').doNothing()
          : conflict
              .column('directory_url')
              .doUpdateSet({ sealed_key, account_url: null })
              .where('acme_accounts.sealed_key', '=', unreadable),
      )
      .execute(),
  );
  const row = await findRow(parts, directory_url);
  const account = row && opened(parts, row);
  if (!account) throw new Error('the account of the certificate authority cannot be read');
  return account;
}

interface AccountRow {
  sealed_key: string;
  account_url: string | null;
}

async function findRow(
  { database }: Pick<Platform, 'database'>,
  directoryUrl: string,
): Promise<AccountRow | undefined> {
  return database.reader
    .selectFrom('acme_accounts')
    .select(['sealed_key', 'account_url'])
    .where('directory_url', '=', directoryUrl)
    .executeTakeFirst();
}

/** Null where the sealing key was lost: the account is worth no more than another. */
function opened({ sealer, log }: Parts, { sealed_key, account_url }: AccountRow): AcmeAccount | null {
  try {
    return { key: sealer.open(sealed_key), url: account_url };
  } catch (err) {
    log.warn(
      { err },
      'the key of the account at the certificate authority cannot be opened; another is made',
    );
    return null;
  }
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
