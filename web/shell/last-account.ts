import type { SessionAccount } from '../session/session.ts';

const KEY = 'homeport-account';

export function rememberAccount(accountId: string): void {
  localStorage.setItem(KEY, accountId);
}

/** The account that was looked at last in this browser, or else the first. */
export function lastAccount(accounts: readonly SessionAccount[]): SessionAccount | undefined {
  const last = localStorage.getItem(KEY);
  return accounts.find((account) => account.id === last) ?? accounts[0];
}
