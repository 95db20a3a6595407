import type { Queries } from '../../../database/database.ts';
import { Unauthenticated } from '../../../lib/failures.ts';
import type { Randomness } from '../../../lib/ids.ts';
import { hashSecret, newSecret } from '../../../secrets/random-secret.ts';
import { setSessionToken } from './store.ts';

/** 256 bits. */
const TOKEN_BYTES = 32;

/** What a browser sends from now on: a cookie's token, of which only the hash is kept. */
export interface BrowserToken {
  token: string;
  expiresAt: Date;
}

/** The cookies of a browser whose session has begun or was given another token. */
export interface RenewedSession extends BrowserToken {
  /** By which the browser is known again later; null: it keeps what it has. */
  device: BrowserToken | null;
}

/** For a session's cookie, or a device's. */
export const newBrowserToken = (random: Randomness): string => newSecret(random, TOKEN_BYTES);

/** Gives a session another token, so that whoever has got hold of its cookie is left outside. Throws Unauthenticated where it has ended. */
export async function renewToken(queries: Queries, random: Randomness, id: string): Promise<BrowserToken> {
  const token = newBrowserToken(random);
  const renewed = await setSessionToken(queries, id, hashSecret(token));
  if (!renewed) throw new Unauthenticated('Authentication required');
  return { token, expiresAt: new Date(renewed.expires_at) };
}
