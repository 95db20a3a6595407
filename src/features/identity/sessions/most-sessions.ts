import type { Queries } from '../../../database/database.ts';
import type { LastSeen } from './last-seen.ts';
import { deleteSessions, findSessionsOf } from './store.ts';

/** So many sessions of a person live at a time: more than anybody has browsers. */
export const MOST_SESSIONS = 50;

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
    .slice(MOST_SESSIONS);
  if (surplus.length === 0) return;
  await deleteSessions(
    queries,
    surplus.map(({ id }) => id),
  );
}
