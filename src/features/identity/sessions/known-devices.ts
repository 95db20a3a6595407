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

/** So long after somebody wholly signed in with a browser it is known: three times as long as a session lives. */
export const KNOWN_MS = 90 * DAY_MS;

/** So many devices of a person are known at a time. */
export const MAX_KNOWN_DEVICES = 50;

/**
 * A browser that the person has wholly signed in with before ("device cookies", OWASP): what it guesses is counted apart, so no
 * stranger keeps the person out of it. It proves nothing else, and lets nobody in.
 */
export interface KnownDevice {
  id: string;
  userId: string;
}

/** The device that a cookie's token stands for, if it is of whom is meant; null: none, ended, expired, somebody else's. */
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

/** Makes the browser of a session known, in place of what it was known by before, to whomever that belonged. */
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

/** Gives a device another token, until when it had the one before; null: it has ended meanwhile. */
export async function renewDevice(
  queries: Queries,
  random: Randomness,
  { id }: KnownDevice,
): Promise<BrowserToken | null> {
  const token = newBrowserToken(random);
  const renewed = await setDeviceToken(queries, id, hashSecret(token));
  return renewed ? { token, expiresAt: new Date(renewed.expires_at) } : null;
}
