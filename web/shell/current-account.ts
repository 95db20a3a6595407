import { createContext, useContext, useEffect } from 'react';
import { rememberAccount } from './last-account.ts';

/** Tells the shell which account the page belongs to. */
export const SetCurrentAccount = createContext<(accountId: string) => void>(() => {});

/** Sets the account that the shell shows. Pages of a site or install call it once that has loaded. */
export function useSetCurrentAccount(accountId: string | undefined): void {
  const show = useContext(SetCurrentAccount);
  useEffect(() => {
    if (accountId === undefined) return;
    rememberAccount(accountId);
    show(accountId);
  }, [accountId, show]);
}
