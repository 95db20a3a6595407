import type { Insertable, Updateable } from 'kysely';
import type { Queries } from '../../../database/database.ts';
import { type MoveStep, OPEN_MOVE } from '../../../database/tables/moves.ts';
import type { Tables } from '../../../database/tables.ts';
import { parseUuid } from '../../../lib/ids.ts';

export async function insertMove(queries: Queries, move: Insertable<Tables['moves']>): Promise<void> {
  await queries.insertInto('moves').values(move).execute();
}

export function findMove(queries: Queries, id: string) {
  return queries.selectFrom('moves').selectAll().where('id', '=', id).executeTakeFirst();
}

/** The latest move of an install. */
export function latestMove(queries: Queries, installId: string) {
  return queries
    .selectFrom('moves')
    .selectAll()
    .where('install_id', '=', installId)
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst();
}

/** The move of an install that has not ended; undefined without one. */
export function openMove(queries: Queries, installId: string) {
  return queries
    .selectFrom('moves')
    .selectAll()
    .where('install_id', '=', installId)
    .where('step', 'in', [...OPEN_MOVE])
    .executeTakeFirst();
}

/** Moves of an install that left something on a machine that it is not on. */
export function unclearedMoves(queries: Queries, installId: string) {
  return queries
    .selectFrom('moves')
    .selectAll()
    .where('install_id', '=', installId)
    .where('cleared_at', 'is', null)
    .execute();
}

/** Ids of the installs that a machine holds because of a move. The embedded host has no id, and nothing moves there. */
export async function movingInstalls(queries: Queries, hostId: string): Promise<string[]> {
  if (parseUuid(hostId) === undefined) return [];
  const rows = await queries
    .selectFrom('moves')
    .select('install_id')
    .where('cleared_at', 'is', null)
    .where((of) => of.or([of('from_host', '=', hostId), of('to_host', '=', hostId)]))
    .execute();
  return rows.map(({ install_id }) => install_id);
}

/** The unfinished moves to or from a host. */
export function openMovesOf(queries: Queries, hostId: string) {
  return queries
    .selectFrom('moves')
    .select(['id', 'job_id'])
    .where('step', 'in', [...OPEN_MOVE])
    .where((of) => of.or([of('from_host', '=', hostId), of('to_host', '=', hostId)]))
    .execute();
}

/** Changes a move that is in one of these steps. False if it is not, because it was cancelled or another worker continued it. */
export async function changeMove(
  queries: Queries,
  id: string,
  from: readonly MoveStep[],
  change: Updateable<Tables['moves']>,
): Promise<boolean> {
  const changed = await queries
    .updateTable('moves')
    .set(change)
    .where('id', '=', id)
    .where('step', 'in', [...from])
    .returning('id')
    .executeTakeFirst();
  return changed !== undefined;
}

/** Notes that nothing of a move is left on the machine that the install is not on. */
export async function markCleared(queries: Queries, id: string, at: string): Promise<void> {
  await queries.updateTable('moves').set({ cleared_at: at }).where('id', '=', id).execute();
}

/** Deletes moves of which nothing was left before this time. */
export async function deleteMovesClearedBefore(queries: Queries, before: string): Promise<void> {
  await queries.deleteFrom('moves').where('cleared_at', '<', before).execute();
}
