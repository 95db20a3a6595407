import type { Session } from '../../access/session.ts';
import type { Queries } from '../../database/database.ts';
import { Unauthenticated } from '../../failures.ts';
import type { Randomness } from '../../ids.ts';
import { hashSecret, newSecret } from '../../secrets/random-secret.ts';
import { setSessionToken } from './store.ts';

/** 256 bits. */
const TOKEN_BYTES = 32;

export const newSessionToken = (random: Randomness): string => newSecret(random, TOKEN_BYTES);

/** What a browser sends from now on. */
export interface RenewedSession {
  /** For the cookie; only its hash is kept. */
  token: string;
  expiresAt: Date;
}

/**
 * Gives a session another token where all others end, so that somebody who has got hold of this one's is left outside too. Throws
 * Unauthenticated where it has ended meanwhile.
 */
export async function renewSession(
  queries: Queries,
  random: Randomness,
  { id }: Session,
): Promise<RenewedSession> {
  const token = newSessionToken(random);
  const renewed = await setSessionToken(queries, id, hashSecret(token));
  if (!renewed) throw new Unauthenticated('Authentication required');
  return { token, expiresAt: new Date(renewed.expires_at) };
}
