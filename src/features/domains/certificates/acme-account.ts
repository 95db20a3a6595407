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
 * The registered account at the authority. Creates its key once, even if processes compete, and registers it if needed.
 * Throws AcmeRefusal.
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

/** Forgets the account's URL after the authority has lost it. The next order registers the key again. */
export async function forgetAccountUrl({ database }: Parts, directoryUrl: string): Promise<void> {
  await database.write(({ queries }) => setAccountUrl(queries, directoryUrl, null));
}

/** The URL of the account, which CAA records may name (RFC 8657); null before registration. */
export async function accountUrl({ database }: Pick<Platform, 'database'>, directoryUrl: string) {
  return (await findAcmeAccount(database.reader, directoryUrl))?.account_url ?? null;
}

async function storedAccount(parts: Parts, directoryUrl: string): Promise<AcmeAccount> {
  const stored = await findAcmeAccount(parts.database.reader, directoryUrl);
  const account = stored && opened(parts, stored);
  return account ?? (await makeAccount(parts, directoryUrl, stored?.sealed_key ?? null));
}

/** `unreadable`: an existing sealed key that can no longer be opened, or null. */
async function makeAccount(
  parts: Parts,
  directory_url: string,
  unreadable: string | null,
): Promise<AcmeAccount> {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const sealed_key = parts.sealer.seal(privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
  const made = { directory_url, sealed_key, created_at: timestamp(parts.clock) };
  // If another process was first, its key stays. Only an unreadable key is replaced.
  await parts.database.write(({ queries }) => insertAcmeAccount(queries, made, unreadable));
  const stored = await findAcmeAccount(parts.database.reader, directory_url);
  const account = stored && opened(parts, stored);
  if (!account) throw new Error('the account of the certificate authority cannot be read');
  return account;
}

/** Opens a stored account; null if the sealing key was lost. A new account works as well. */
function opened({ sealer, log }: Parts, { sealed_key, account_url }: StoredAccount): AcmeAccount | null {
  try {
    return { key: sealer.open(sealed_key), url: account_url };
  } catch (err) {
    log.warn({ err }, 'cannot open the key of the ACME account; creating a new account');
    return null;
  }
}
