import type { Session } from '../../../access/session.ts';
import type { Queries } from '../../../database/database.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { Randomness } from '../../../lib/ids.ts';
import { deleteKnownDeviceOfSession, deleteKnownDevicesOf } from './known-device-store.ts';
import { rememberDevice } from './known-devices.ts';
import type { LastSeen } from './last-seen.ts';
import { deleteSession, deleteSessions, deleteSessionsOf, findSessionsOf } from './store.ts';
import { type RenewedSession, renewToken } from './token.ts';

/** Ends a session, and knows its browser no more: it may be lost. Returns whether there was such a one. */
export async function endSession(
  queries: Queries,
  session: { id: string; userId: string },
): Promise<boolean> {
  if (!(await deleteSession(queries, session))) return false;
  await deleteKnownDeviceOfSession(queries, session.id);
  return true;
}

/** Ends every session of a person, and knows none of their browsers any more, but for one device. */
export async function endSessionsOf(
  queries: Queries,
  userId: string,
  keptDeviceId: string | null = null,
): Promise<void> {
  await deleteSessionsOf(queries, userId);
  await deleteKnownDevicesOf(queries, userId, keptDeviceId);
}

/**
 * Ends every session of a person but one, which goes on in a browser that is known: by other tokens both, so that whoever has got hold of
 * its cookies is left outside with the others. Returns how many people would call signed in were ended. Throws Unauthenticated where the
 * session has ended meanwhile.
 */
export async function endOtherSessions(
  queries: Queries,
  made: { clock: Clock; random: Randomness },
  { id, userId }: Session,
): Promise<{ renewed: RenewedSession; ended: number }> {
  const renewed = await renewToken(queries, made.random, id);
  const ended = await deleteSessionsOf(queries, userId, id);
  await deleteKnownDevicesOf(queries, userId);
  const device = await rememberDevice(queries, made, { userId, sessionId: id, former: null });
  return { renewed: { ...renewed, device }, ended };
}

/** So many sessions of a person live at a time: more than anybody has browsers. */
export const MAX_SESSIONS = 50;

/** Ends those of a person that were used longest ago, where there are more than may be. Their row is locked. */
export async function endSurplusSessions(
  queries: Queries,
  userId: string,
  lastSeenOf: LastSeen['of'],
): Promise<void> {
  const sessions = await findSessionsOf(queries, userId);
  const surplus = sessions
    .map((session) => ({ id: session.id, lastSeen: lastSeenOf(session) }))
    // Of those of one minute the latest made come first, as they were found.
    .sort((one, other) => Date.parse(other.lastSeen) - Date.parse(one.lastSeen))
    .slice(MAX_SESSIONS);
  if (surplus.length === 0) return;
  await deleteSessions(
    queries,
    surplus.map(({ id }) => id),
  );
}
