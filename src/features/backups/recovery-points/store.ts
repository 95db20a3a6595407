import type { Insertable } from 'kysely';
import type { Queries } from '../../../database/database.ts';
import type { Tables } from '../../../database/tables.ts';

/** A recovery point, as its host and the rules know it. */
export interface Point {
  id: string;
  base_id: string | null;
  taken_at: string;
  bytes: number;
}

/** The recovery points of an install, newest first. */
export function pointsOf(queries: Queries, installId: string): Promise<Point[]> {
  return queries
    .selectFrom('recovery_points')
    .select(['id', 'base_id', 'taken_at', 'bytes'])
    .where('install_id', '=', installId)
    .orderBy('seq', 'desc')
    .execute();
}

/** The recovery point that a snapshot is based on; null for a backup and a whole recovery point. */
export async function baseOfPoint(queries: Queries, id: string): Promise<string | null> {
  const row = await queries
    .selectFrom('recovery_points')
    .select('base_id')
    .where('id', '=', id)
    .executeTakeFirst();
  return row?.base_id ?? null;
}

/** The recovery state of an install; undefined before its first look. */
export function stateOf(queries: Queries, installId: string) {
  return queries
    .selectFrom('recovery_states')
    .select(['covered_at', 'reason'])
    .where('install_id', '=', installId)
    .executeTakeFirst();
}

/** When the newest daily backup that is there was requested; null without one. */
export async function dailyBackupAt(queries: Queries, installId: string): Promise<string | null> {
  const row = await queries
    .selectFrom('backups')
    .select('created_at')
    .where('install_id', '=', installId)
    .where('status', '=', 'completed')
    .where('scheduled', '=', true)
    .where('deleting', '=', false)
    .where('missing_since', 'is', null)
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.created_at ?? null;
}

/** Deletes all points of an install but these. */
export async function keepPoints(queries: Queries, installId: string, ids: readonly string[]): Promise<void> {
  await queries
    .deleteFrom('recovery_points')
    .where('install_id', '=', installId)
    .$if(ids.length > 0, (points) => points.where('id', 'not in', ids))
    .execute();
}

export async function insertPoint(queries: Queries, installId: string, point: Point): Promise<void> {
  await queries
    .insertInto('recovery_points')
    .values({ ...point, install_id: installId })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute();
}

/** Adds the state of an install, unless it has one. */
export async function addState(
  queries: Queries,
  state: Insertable<Tables['recovery_states']>,
): Promise<void> {
  await queries
    .insertInto('recovery_states')
    .values(state)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/**
 * Forgets points that cannot be restored. Without its newest one, an install is covered by less, and gets another one although nothing changed.
 */
export async function forgetPoints(
  queries: Queries,
  installId: string,
  ids: readonly string[],
): Promise<void> {
  const [newest, ...others] = await pointsOf(queries, installId);
  await queries.deleteFrom('recovery_points').where('id', 'in', ids).execute();
  if (newest === undefined || !ids.includes(newest.id)) return;
  const left = others.find(({ id }) => !ids.includes(id));
  await changeStates(queries, [installId], { mark: null, covered_at: left?.taken_at ?? null });
}

/** Changes the states of installs. Those that are gone are left out. */
export async function changeStates(
  queries: Queries,
  installIds: readonly string[],
  change: { due_at?: string; mark?: string | null; covered_at?: string | null; reason?: string | null },
): Promise<void> {
  if (installIds.length === 0) return;
  await queries.updateTable('recovery_states').set(change).where('install_id', 'in', installIds).execute();
}
