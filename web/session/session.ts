import { type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query';
import { createContext, useContext, useEffect } from 'react';
import { type PortalPaths, portal } from '../api/client.ts';
import { ApiFailure, unwrap, unwrapEmpty } from '../api/failure.ts';
import { SESSION_KEY } from '../api/queries.ts';
import { confirmSignOut } from './sign-out-guard.ts';

export type PortalSession =
  PortalPaths['/portal/api/session']['get']['responses'][200]['content']['application/json'];
export type SessionAccount = PortalSession['accounts'][number];
export type Verb = keyof SessionAccount['may'];

/** `ended`: somebody was signed in here and has not signed out. */
export type SignedOut = null | 'ended';

/** Who is signed in and how far, or nobody. */
export function useSessionQuery() {
  return useQuery({
    queryKey: SESSION_KEY,
    queryFn: async ({ client }) => {
      const found = await loadSession();
      const before = client.getQueryData<PortalSession | SignedOut>(SESSION_KEY) ?? null;
      // Somebody else may have signed in in another window: forgotten before anything of theirs is shown.
      if (userOf(found) !== userOf(before)) forget(client);
      return found ?? nobodyAfter(before);
    },
  });
}

/** null: nobody is signed in. */
async function loadSession(): Promise<PortalSession | null> {
  try {
    return await unwrap(portal.GET('/portal/api/session'));
  } catch (error) {
    if (error instanceof ApiFailure && error.status === 401) return null;
    throw error;
  }
}

function nobodyAfter(before: PortalSession | SignedOut): SignedOut {
  return before === 'ended' || before?.stage === 'full' ? 'ended' : null;
}

const userOf = (session: PortalSession | SignedOut) =>
  session === null || session === 'ended' ? null : session.user.id;

/** What was loaded for somebody is not kept for whoever comes next; what is still on its way for them comes to nothing. */
function forget(queries: QueryClient): void {
  queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== SESSION_KEY[0] });
}

const Present = createContext<PortalSession | null>(null);
export const SessionProvider = Present.Provider;

/** The session of whoever has wholly signed in; for everything inside the shell. */
export function useSession(): PortalSession {
  const session = useContext(Present);
  if (!session) throw new Error('there is no session here');
  return session;
}

/** One of the person's accounts; undefined: not theirs (any more). */
export function useAccount(accountId: string | undefined): SessionAccount | undefined {
  return useSession().accounts.find((account) => account.id === accountId);
}

/** What is offered to the person in an account, by the permission table. `own`: on what was given to them. */
export function useMay(accountId: string | undefined): (verb: Verb) => boolean {
  const account = useAccount(accountId);
  return (verb) => account !== undefined && account.may[verb] !== 'none';
}

/** When the signed-in pages go away, so does what was loaded for them. */
export function useClearCacheOnUnmount(): void {
  const queries = useQueryClient();
  useEffect(() => () => forget(queries), [queries]);
}

/** Ends the session, unless somebody is asked first and stays. */
export function useSignOut(): () => Promise<void> {
  const queries = useQueryClient();
  return async () => {
    if (!(await confirmSignOut())) return;
    await unwrapEmpty(portal.DELETE('/portal/api/session'));
    queries.setQueryData(SESSION_KEY, null);
  };
}
