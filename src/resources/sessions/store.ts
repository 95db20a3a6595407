import type { Queries } from '../../database/database.ts';
import { idleSince } from './lifetime.ts';

/** Deletes the sessions that have ended by themselves. `now`: as times are stored. */
export async function deleteExpiredSessions(queries: Queries, now: string): Promise<void> {
  await queries
    .deleteFrom('sessions')
    .where((eb) => eb.or([eb('expires_at', '<=', now), eb('last_seen_at', '<=', idleSince(now))]))
    .execute();
}
