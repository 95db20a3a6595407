import type { Queries } from '../../database/database.ts';
import { parseUuid } from '../../lib/ids.ts';

/**
 * Ids of the installs whose latest move or rebuild took them away from this host, perhaps without its help, because it was given up. It then serves
 * them again when it returns. Not those that are coming back.
 */
export async function leftInstalls(queries: Queries, hostId: string): Promise<Set<string>> {
  // The embedded host has no id, and nothing leaves it.
  if (parseUuid(hostId) === undefined) return new Set();
  const moves = await queries
    .selectFrom('moves')
    .select(['install_id', 'from_host', 'step', 'requested_at'])
    .where('cleared_at', 'is', null)
    .where((of) => of.or([of('from_host', '=', hostId), of('to_host', '=', hostId)]))
    .orderBy('seq')
    .execute();
  const rebuilds = await queries
    .selectFrom('rebuilds')
    .select(['install_id', 'from_host', 'requested_at'])
    // It left with the choice of a backup.
    .where('backup_id', 'is not', null)
    .where((of) => of.or([of('from_host', '=', hostId), of('to_host', '=', hostId)]))
    .orderBy('seq')
    .execute();
  const events = [
    ...moves.map(({ from_host, step, ...event }) => ({
      ...event,
      isGone: (from_host === hostId ? AWAY : BACK).has(step),
    })),
    ...rebuilds.map(({ from_host, ...event }) => ({ ...event, isGone: from_host === hostId })),
  ].sort((one, other) => (one.requested_at < other.requested_at ? -1 : 1));
  const isGone = new Map(events.map((event) => [event.install_id, event.isGone]));
  return new Set([...isGone].flatMap(([id, gone]) => (gone ? [id] : [])));
}

/** Steps of a move from a host in which the install is on the other one. */
const AWAY: ReadonlySet<string> = new Set(['switched', 'moved']);
/** The same for a move to a host. */
const BACK: ReadonlySet<string> = new Set(['returning', 'returned']);
