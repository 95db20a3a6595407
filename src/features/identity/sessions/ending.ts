import type { Session } from '../../../access/session.ts';
import type { Queries } from '../../../database/database.ts';
import { type Clock, timestamp } from '../../../lib/clock.ts';
import type { Randomness } from '../../../lib/ids.ts';
import { deleteKnownDeviceOfSession, deleteKnownDevicesOf } from './known-device-store.ts';
import { rememberDevice } from './known-devices.ts';
import type { LastSeen } from './last-seen.ts';
import { deleteSession, deleteSessions, deleteSessionsOf, findSessionsOf } from './store.ts';
import { type RenewedSession, renewToken } from './token.ts';

/** Ends a session and forgets its device, which may be lost. Returns whether it existed. */
export async function endSession(
  queries: Queries,
  session: { id: string; userId: string },
): Promise<boolean> {
  if (!(await deleteSession(queries, session))) return false;
  await deleteKnownDeviceOfSession(queries, session.id);
  return true;
}

/** Ends every session of a user, and forgets their devices, except `keptDeviceId`. */
export async function endSessionsOf(
  queries: Queries,
  userId: string,
  keptDeviceId: string | null = null,
): Promise<void> {
  await deleteSessionsOf(queries, userId);
  await deleteKnownDevicesOf(queries, userId, keptDeviceId);
}

/**
 * Ends a user's other sessions and forgets their devices. The remaining session and its device get new tokens, so that
 * stolen cookies stop working. `ended` counts signed-in sessions, and expired ones until
 * 13 hours after their last use (`findSessionsOf`). Throws Unauthenticated if the session has ended meanwhile.
 */
export async function endOtherSessions(
  queries: Queries,
  made: { clock: Clock; random: Randomness },
  { id, userId }: Session,
): Promise<{ renewed: RenewedSession; ended: number }> {
  const renewed = await renewToken(queries, made.random, id);
  const others = (await findSessionsOf(queries, userId, timestamp(made.clock))).filter(
    (other) => other.id !== id,
  );
  await deleteSessionsOf(queries, userId, id);
  await deleteKnownDevicesOf(queries, userId);
  const device = await rememberDevice(queries, made, { userId, sessionId: id, former: null });
  return { renewed: { ...renewed, device }, ended: others.length };
}

/** Sessions of one user at a time. */
export const MAX_SESSIONS = 50;

/** Ends the least recently used sessions of a user above the limit. The user's row must be locked. */
export async function endSurplusSessions(
  queries: Queries,
  { userId, now, lastSeenOf }: { userId: string; now: string; lastSeenOf: LastSeen['of'] },
): Promise<void> {
  const sessions = await findSessionsOf(queries, userId, now);
  const surplus = sessions
    .map((session) => ({ id: session.id, lastSeen: lastSeenOf(session) }))
    // The sort is stable: within a minute, newer sessions come first.
    .sort((one, other) => Date.parse(other.lastSeen) - Date.parse(one.lastSeen))
    .slice(MAX_SESSIONS);
  if (surplus.length === 0) return;
  await deleteSessions(
    queries,
    surplus.map(({ id }) => id),
  );
}
