import { createContext, useContext, useEffect } from 'react';
import { rememberAccount } from './last-account.ts';

/** Tells the shell which account what is shown belongs to. */
export const SetCurrentAccount = createContext<(accountId: string) => void>(() => {});

/** For pages whose address names a thing and no account: once it is loaded, its account is the one that the shell shows. */
export function useSetCurrentAccount(accountId: string | undefined): void {
  const show = useContext(SetCurrentAccount);
  useEffect(() => {
    if (accountId === undefined) return;
    rememberAccount(accountId);
    show(accountId);
  }, [accountId, show]);
}
