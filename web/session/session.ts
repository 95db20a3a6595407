import { type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query';
import { createContext, useContext, useEffect } from 'react';
import type { CapabilityName } from '../api/capabilities.ts';
import { portal } from '../api/client.ts';
import { forgetEarlyRequests } from '../api/early-requests.ts';
import { ApiFailure, unwrap, unwrapEmpty } from '../api/failure.ts';
import { SESSION_KEY } from '../api/query-keys.ts';
import {
  areHidden,
  hidePages,
  ownerOf,
  type PortalSession,
  type SessionState,
  sessionState,
  showSignedOut,
  stateAfter,
} from '../api/session-state.ts';
import { announceSession, onSessionElsewhere } from './other-windows.ts';
import { confirmSignOut } from './sign-out-guard.ts';

export type SessionAccount = PortalSession['accounts'][number];
export type Verb = keyof SessionAccount['may'];

/** Loads the session, and decides whose pages stay. */
export function useSessionQuery() {
  const queries = useQueryClient();
  // Hidden pages have no live changes, which would notice.
  useEffect(
    () =>
      onSessionElsewhere((change) => {
        if (change === 'signed_out') return void showSignedOut(queries);
        hidePages(queries);
        void queries.invalidateQueries({ queryKey: SESSION_KEY });
      }),
    [queries],
  );
  return useQuery<SessionState>({
    queryKey: SESSION_KEY,
    refetchInterval: ({ state }) => (state.data?.isUnverified ? VERIFY_EVERY_MS : false),
    queryFn: async ({ client, signal }) => {
      let found = await loadSession(signal);
      signal.throwIfAborted();
      if (found === null && sessionState(client).kept !== null) {
        hidePages(client);
        await new Promise((resolve) => setTimeout(resolve, RENEWAL_MS));
        signal.throwIfAborted();
        found = await loadSession(signal);
        signal.throwIfAborted();
      }
      const before = sessionState(client);
      const next = stateAfter(before, found);
      // Another user may have signed in in another window, so clear the cache before showing their data.
      if (ownerOf(next) !== ownerOf(before)) forget(client);
      return next;
    },
  });
}

/**
 * A new password, a new second factor or the end of other sessions in another window renews the cookie. A request with the former one is
 * refused, so the pages are removed only if a second request is refused after this time.
 */
const RENEWAL_MS = 1_000;
/** Time between requests while a rate limit or an outage leaves it open whether the session lasts. */
const VERIFY_EVERY_MS = 5_000;

/** Returns null without a session, and after it was ended. */
async function loadSession(signal: AbortSignal): Promise<PortalSession | 'expired' | null> {
  try {
    return await unwrap(portal.GET('/portal/api/session', { signal }));
  } catch (error) {
    if (error instanceof ApiFailure && error.status === 401) {
      forgetEarlyRequests();
      return error.fieldErrors.some(({ code }) => code === 'session_expired') ? 'expired' : null;
    }
    throw error;
  }
}

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

/** Returns a function that tells whether the hosts of the platform do something for installs with WordPress. */
export function usePlatformHas(): (capability: CapabilityName) => boolean {
  const { wordpress_features } = useSession();
  return (capability) => wordpress_features.includes(capability);
}

/** Clears the cache when the signed-in pages unmount. A page that works without a session can take their place while they are hidden. */
export function useClearCacheOnUnmount(): void {
  const queries = useQueryClient();
  useEffect(
    () => () => {
      forget(queries);
      queries.setQueryData<SessionState>(SESSION_KEY, (state) =>
        state && areHidden(state) ? { ...state, kept: null } : state,
      );
    },
    [queries],
  );
}

/**
 * Returns a function that ends the session and removes the pages of its user from all windows of this browser. A guard asks first, and
 * the user may stay; pages that are hidden cannot ask.
 */
export function useSignOut(): () => Promise<void> {
  const queries = useQueryClient();
  return async () => {
    if (!areHidden(sessionState(queries)) && !(await confirmSignOut())) return;
    await unwrapEmpty(portal.DELETE('/portal/api/session'));
    announceSession('signed_out');
    await showSignedOut(queries);
  };
}
