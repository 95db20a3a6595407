import type { Credential } from '../../../api/me.ts';

type Reach = Pick<Credential, 'account' | 'installs' | 'read_only'>;

/** So many installs are named; of more the number is told. */
const MOST_NAMED = 3;

/** What a credential reaches, and whether it may change anything there. */
export function reachInWords({ account, installs, read_only }: Reach): string {
  return `${placeInWords(account, installs)}${read_only ? ', to read only' : ''}`;
}

function placeInWords(account: Reach['account'], installs: Reach['installs']): string {
  if (account === null) return 'All that you can reach';
  if (installs === null) return `All of ${account.name}`;
  const named = installs.slice(0, MOST_NAMED).map(({ name }) => name);
  const more = installs.length - named.length;
  const names = more > 0 ? `${named.join(', ')} and ${more} more` : named.join(', ');
  return installs.length === 0
    ? `Nothing any more: its installs of ${account.name} are deleted`
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
