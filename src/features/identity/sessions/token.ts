import type { Queries } from '../../../database/database.ts';
import { Unauthenticated } from '../../../lib/failures.ts';
import type { Randomness } from '../../../lib/ids.ts';
import { hashSecret, newSecret } from '../../../secrets/random-secret.ts';
import { cookieEndOf } from './state.ts';
import { setSessionToken } from './store.ts';

/** 256 bits. */
const TOKEN_BYTES = 32;

/** The token of a cookie, and the end of the cookie. Only the hash of the token is stored. */
export interface BrowserToken {
  token: string;
  expiresAt: Date;
}

/** The cookies for a new or renewed session. */
export interface RenewedSession extends BrowserToken {
  /** The token of the known device; null: unchanged. */
  device: BrowserToken | null;
}

/** Generates a token for a session or device cookie. */
export const newBrowserToken = (random: Randomness): string => newSecret(random, TOKEN_BYTES);

/** Whether a text has the form of such a token. */
export const isBrowserToken = (text: string): boolean => /^[\w-]{43}$/.test(text);

/** Replaces the token of a session, so that a stolen cookie stops working. Throws Unauthenticated if the session has ended. */
export async function renewToken(queries: Queries, random: Randomness, id: string): Promise<BrowserToken> {
  const token = newBrowserToken(random);
  const renewed = await setSessionToken(queries, id, hashSecret(token));
  if (!renewed) throw new Unauthenticated('Authentication required');
  return { token, expiresAt: cookieEndOf(renewed) };
}
