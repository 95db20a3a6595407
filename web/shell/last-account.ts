import type { SessionAccount } from '../session/session.ts';

const KEY = 'homeport-account';

export function rememberAccount(accountId: string): void {
  localStorage.setItem(KEY, accountId);
}

/** Returns the account that was opened last in this browser, or else the first one. */
export function lastAccount(accounts: readonly SessionAccount[]): SessionAccount | undefined {
  const last = localStorage.getItem(KEY);
  return accounts.find((account) => account.id === last) ?? accounts[0];
}
