import type { Caller } from '../../../access/caller.ts';

/** Where a request of a session comes from, for the activity log. */
export interface SessionOrigin {
  address: string;
  requestId: string;
}

/** The same, and the token by which the browser may be known from an earlier sign-in. */
export interface BrowserOrigin extends SessionOrigin {
  device: string | null;
}

/** Somebody who uses the portal, though they need not be wholly signed in. */
export function visitor(userId: string, { address, requestId }: SessionOrigin): Caller {
  return { userId, limits: null, origin: { means: 'portal', credentialId: null, address, requestId } };
}
