import { type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query';
import { createContext, useContext, useEffect } from 'react';
import { type PortalPaths, portal } from '../api/client.ts';
import { forgetEarlyRequests } from '../api/early-requests.ts';
import { ApiFailure, unwrap, unwrapEmpty } from '../api/failure.ts';
import { SESSION_KEY } from '../api/query-keys.ts';
import { confirmSignOut } from './sign-out-guard.ts';

export type PortalSession =
  PortalPaths['/portal/api/session']['get']['responses'][200]['content']['application/json'];
export type SessionAccount = PortalSession['accounts'][number];
export type Verb = keyof SessionAccount['may'];
/** Features of the platform for WordPress, beyond serving it. */
export type WordPressFeature = PortalSession['wordpress_features'][number];

/** `ended`: the session ended without a sign-out, for example because it expired. */
export type SignedOut = null | 'ended';

/** Loads the session: the user and the step of the sign-in that they have reached. */
export function useSessionQuery() {
  return useQuery({
    queryKey: SESSION_KEY,
    queryFn: async ({ client }) => {
      const found = await loadSession();
      const before = client.getQueryData<PortalSession | SignedOut>(SESSION_KEY) ?? null;
      // Another user may have signed in in another window, so clear the cache before showing their data.
      if (userOf(found) !== userOf(before)) forget(client);
      return found ?? nobodyAfter(before);
    },
  });
}

/** Returns null without a session. */
async function loadSession(): Promise<PortalSession | null> {
  try {
    return await unwrap(portal.GET('/portal/api/session'));
  } catch (error) {
    if (error instanceof ApiFailure && error.status === 401) {
      forgetEarlyRequests();
      return null;
    }
    throw error;
  }
}

function nobodyAfter(before: PortalSession | SignedOut): SignedOut {
  return before === 'ended' || before?.stage === 'full' ? 'ended' : null;
}

const userOf = (session: PortalSession | SignedOut) =>
  session === null || session === 'ended' ? null : session.user.id;

/** Removes all data of the previous user. Responses still on their way are discarded. */
function forget(queries: QueryClient): void {
  queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== SESSION_KEY[0] });
}

const Present = createContext<PortalSession | null>(null);
export const SessionProvider = Present.Provider;

/** Returns the session of the signed-in user. Only for components inside the shell. */
export function useSession(): PortalSession {
  const session = useContext(Present);
  if (!session) throw new Error('useSession needs a SessionProvider');
  return session;
}

/** Returns one of the user's accounts; undefined if they are not, or no longer, a member. */
export function useAccount(accountId: string | undefined): SessionAccount | undefined {
  return useSession().accounts.find((account) => account.id === accountId);
}

/**
 * Returns a function that tells whether the user may do something in an account. It is true for `own`, too:
 * permission for assigned installs only.
 */
export function useMay(accountId: string | undefined): (verb: Verb) => boolean {
  const account = useAccount(accountId);
  return (verb) => account !== undefined && account.may[verb] !== 'none';
}

/** Returns a function that tells whether the platform does something for installs with WordPress. */
export function useHasFeature(): (feature: WordPressFeature) => boolean {
  const { wordpress_features } = useSession();
  return (feature) => wordpress_features.includes(feature);
}

/** Clears the cache when the signed-in pages unmount. */
export function useClearCacheOnUnmount(): void {
  const queries = useQueryClient();
  useEffect(() => () => forget(queries), [queries]);
}

/** Returns a function that ends the session, unless a guard asks first and the user stays. */
export function useSignOut(): () => Promise<void> {
  const queries = useQueryClient();
  return async () => {
    if (!(await confirmSignOut())) return;
    await unwrapEmpty(portal.DELETE('/portal/api/session'));
    queries.setQueryData(SESSION_KEY, null);
  };
}
