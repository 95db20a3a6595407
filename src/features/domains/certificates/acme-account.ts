import { generateKeyPairSync } from 'node:crypto';
import { timestamp } from '../../../lib/clock.ts';
import type { AcmeAccount, Authority } from '../../../network/acme/authority.ts';
import type { Platform } from '../../../platform/platform.ts';
import {
  findAcmeAccount,
  insertAcmeAccount,
  type StoredAccount,
  setAccountUrl,
} from './acme-account-store.ts';

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
  await parts.database.write(({ queries }) => setAccountUrl(queries, directoryUrl, url));
  return { key: account.key, url };
}

/** The authority does not know the account any more; the next order registers its key anew. */
export async function forgetAccountUrl({ database }: Parts, directoryUrl: string): Promise<void> {
  await database.write(({ queries }) => setAccountUrl(queries, directoryUrl, null));
}

/** The URL of the account, if it has been registered; what CAA records may name it by (RFC 8657). */
export async function accountUrl({ database }: Pick<Platform, 'database'>, directoryUrl: string) {
  return (await findAcmeAccount(database.reader, directoryUrl))?.account_url ?? null;
}

async function storedAccount(parts: Parts, directoryUrl: string): Promise<AcmeAccount> {
  const stored = await findAcmeAccount(parts.database.reader, directoryUrl);
  const account = stored && opened(parts, stored);
  return account ?? (await makeAccount(parts, directoryUrl, stored?.sealed_key ?? null));
}

/** `unreadable`: the sealed key that is there and cannot be opened any more, or null for none. */
async function makeAccount(
  parts: Parts,
  directory_url: string,
  unreadable: string | null,
): Promise<AcmeAccount> {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const sealed_key = parts.sealer.seal(privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
  const made = { directory_url, sealed_key, created_at: timestamp(parts.clock) };
  // Another process may have been first: its key stays. One that cannot be opened any more serves nobody.
  await parts.database.write(({ queries }) => insertAcmeAccount(queries, made, unreadable));
  const stored = await findAcmeAccount(parts.database.reader, directory_url);
  const account = stored && opened(parts, stored);
  if (!account) throw new Error('the account of the certificate authority cannot be read');
  return account;
}

/** Null where the sealing key was lost: the account is worth no more than another. */
function opened({ sealer, log }: Parts, { sealed_key, account_url }: StoredAccount): AcmeAccount | null {
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
