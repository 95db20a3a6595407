import type { QueryClient } from '@tanstack/react-query';
import type { PortalPaths } from './client.ts';
import { SESSION_KEY } from './query-keys.ts';

export type PortalSession =
  PortalPaths['/portal/api/session']['get']['responses'][200]['content']['application/json'];

/** The signed-in user, and the user whose pages this window shows or keeps. */
export interface SessionState {
  /** The user and the step of the sign-in that they have reached; null without a session. */
  readonly session: PortalSession | null;
  /**
   * The full session of the mounted pages; null without such pages. When it expires, the pages stay, hidden, until someone signs in.
   */
  readonly kept: PortalSession | null;
  /** Whether the last session was ended elsewhere, which the sign-in says. */
  readonly wasEnded: boolean;
  /** Whether the pages are hidden only until the server has said whether their session lasts. */
  readonly isUnverified: boolean;
}

export const SIGNED_OUT: SessionState = { session: null, kept: null, wasEnded: false, isUnverified: false };

/** Returns the state of the session that was loaded last. */
export const sessionState = (queries: QueryClient): SessionState =>
  queries.getQueryData<SessionState>(SESSION_KEY) ?? SIGNED_OUT;

/**
 * Hides the pages of a session that may have ended, until the server answers.
 */
export function hidePages(queries: QueryClient): void {
  queries.setQueryData<SessionState>(SESSION_KEY, (state) =>
    state && state.kept !== null && !areHidden(state)
      ? { ...state, session: null, isUnverified: true }
      : state,
  );
}

/** Shows that no one is signed in. A session request on its way could answer with the former session, so it is cancelled. */
export async function showSignedOut(queries: QueryClient): Promise<void> {
  await queries.cancelQueries({ queryKey: SESSION_KEY });
  queries.setQueryData(SESSION_KEY, SIGNED_OUT);
}

/** Returns the state after the server answered with `found`: a session, an expired one, or null without one or after it was ended. */
export function stateAfter(before: SessionState, found: PortalSession | 'expired' | null): SessionState {
  if (found === null) {
    return { ...SIGNED_OUT, wasEnded: before.wasEnded || ownerOf(before) !== undefined };
  }
  if (found === 'expired') return { ...SIGNED_OUT, kept: before.kept };
  if (found.stage === 'full') return { ...SIGNED_OUT, session: found, kept: found };
  const isOfKept = found.stage === 'second_factor' && ownerOf(before) === found.user.id;
  return { ...SIGNED_OUT, session: found, kept: isOfKept ? before.kept : null };
}

/** Returns the ID of the user whose data this window has. */
export const ownerOf = ({ session, kept }: SessionState): string | undefined => (kept ?? session)?.user.id;

/** Returns whether the pages of an expired session are kept, hidden below the sign-in. */
export const areHidden = ({ session, kept }: SessionState): boolean =>
  kept !== null && session?.stage !== 'full';
