import type { Queries } from '../../../database/database.ts';
import { type Clock, timestamp } from '../../../lib/clock.ts';
import { DAY_MS } from '../../../lib/durations.ts';
import type { Randomness } from '../../../lib/ids.ts';
import { hashSecret } from '../../../secrets/random-secret.ts';
import {
  addKnownDevice,
  deleteKnownDevice,
  type FoundDevice,
  findKnownDevice,
  setDeviceToken,
} from './known-device-store.ts';
import { type BrowserToken, newBrowserToken } from './token.ts';

/** A device is known for this long after a full sign-in: three times the maximum age of a session. */
export const KNOWN_MS = 90 * DAY_MS;

/** Known devices of one user. */
export const MAX_KNOWN_DEVICES = 50;

/**
 * A browser in which the user has fully signed in before ("device cookies", OWASP). Its wrong attempts are counted apart,
 * so that guessers elsewhere cannot lock the user out. It grants no access.
 */
export interface KnownDevice {
  id: string;
  userId: string;
}

/** The known device of a cookie's token; null if it is unknown or expired, or if `isMeant` rejects its user. */
export async function knownDevice(
  queries: Queries,
  clock: Clock,
  token: string | null,
  isMeant: (device: FoundDevice) => boolean,
): Promise<KnownDevice | null> {
  if (token === null) return null;
  const device = await findKnownDevice(queries, hashSecret(token), timestamp(clock));
  return device && isMeant(device) ? { id: device.id, userId: device.user_id } : null;
}

/** Makes the browser of a session a known device, and forgets its `former` token, which may be another user's. */
export async function rememberDevice(
  queries: Queries,
  { clock, random }: { clock: Clock; random: Randomness },
  { userId, sessionId, former }: { userId: string; sessionId: string; former: string | null },
): Promise<BrowserToken> {
  if (former !== null) await deleteKnownDevice(queries, hashSecret(former));
  const token = newBrowserToken(random);
  const now = clock.now();
  const expiresAt = new Date(now.getTime() + KNOWN_MS);
  await addKnownDevice(
    queries,
    {
      id: random.uuid(),
      token_hash: hashSecret(token),
      user_id: userId,
      session_id: sessionId,
      expires_at: expiresAt.toISOString(),
      created_at: now.toISOString(),
    },
    MAX_KNOWN_DEVICES,
  );
  return { token, expiresAt };
}

/** Replaces the token of a device without extending its expiry; null if it has ended meanwhile. */
export async function renewDevice(
  queries: Queries,
  random: Randomness,
  { id }: KnownDevice,
): Promise<BrowserToken | null> {
  const token = newBrowserToken(random);
  const renewed = await setDeviceToken(queries, id, hashSecret(token));
  return renewed ? { token, expiresAt: new Date(renewed.expires_at) } : null;
}
