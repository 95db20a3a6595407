import type { Caller, CallerLimits } from '../../../access/caller.ts';
import { parseLimits } from '../../../access/limits.ts';
import type { Queries } from '../../../database/database.ts';
import { Unauthenticated } from '../../../lib/failures.ts';
import { findCredentialOwner } from './store.ts';

/**
 * Reads the present limits and expiry of the credential that makes a request. Processes cache credentials for seconds, in which a
 * revoked one must not create anything that outlives it. Throws Unauthenticated if it has ended.
 */
export async function presentCredential(
  queries: Queries,
  { limits, origin }: Caller,
  now: string,
): Promise<{ limits: CallerLimits | null; expiresAt: string | null }> {
  if (origin.credentialId === null) return { limits, expiresAt: null };
  const row = await findCredentialOwner(queries, origin.credentialId);
  const hasEnded = !row || row.revoked_at !== null || (row.expires_at !== null && row.expires_at <= now);
  if (hasEnded) throw new Unauthenticated('Bad Credentials');
  return { limits: parseLimits(row), expiresAt: row.expires_at };
}
