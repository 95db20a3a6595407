import type { Credential } from '../../../api/me.ts';

type Access = Pick<Credential, 'account' | 'installs' | 'read_only'>;

/** Number of installs that are named; the others are counted. */
const MOST_NAMED = 3;

/** Returns what a credential gives access to, and whether it is read-only. */
export function accessLabel({ account, installs, read_only }: Access): string {
  return `${scopeLabel(account, installs)}${read_only ? ' (read-only)' : ''}`;
}

function scopeLabel(account: Access['account'], installs: Access['installs']): string {
  if (account === null) return 'Everything you can access';
  if (installs === null) return `All of ${account.name}`;
  const named = installs.slice(0, MOST_NAMED).map(({ name }) => name);
  const more = installs.length - named.length;
  const names = more > 0 ? `${named.join(', ')} and ${more} more` : named.join(', ');
  return installs.length === 0
    ? `Nothing: its installs of ${account.name} were deleted`
    : `${names} of ${account.name}`;
}

export type CredentialState = 'working' | 'expired' | 'revoked';

export function credentialState(
  { revoked_at, expires_at }: Pick<Credential, 'revoked_at' | 'expires_at'>,
  now: Date,
): CredentialState {
  if (revoked_at !== null) return 'revoked';
  return expires_at !== null && Date.parse(expires_at) <= now.getTime() ? 'expired' : 'working';
}
