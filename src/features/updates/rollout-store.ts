import type { Queries } from '../../database/database.ts';
import type { CoreRolloutRow } from '../../database/tables/wordpress-updates.ts';

/** The rollouts of all releases, newest first. */
export function allRollouts(queries: Queries): Promise<CoreRolloutRow[]> {
  return queries.selectFrom('core_rollouts').selectAll().orderBy('created_at', 'desc').execute();
}

/** The rollout of a release; undefined before it begins. */
export function findRollout(queries: Queries, version: string): Promise<CoreRolloutRow | undefined> {
  return queries.selectFrom('core_rollouts').selectAll().where('version', '=', version).executeTakeFirst();
}

export async function beginRollout(queries: Queries, version: string, created_at: string): Promise<void> {
  await queries
    .insertInto('core_rollouts')
    .values({ version, stopped_at: null, reason: null, resumed_at: null, created_at })
    .onConflict((conflict) => conflict.column('version').doNothing())
    .execute();
}

export async function stopRollout(
  queries: Queries,
  version: string,
  { stopped_at, reason }: { stopped_at: string; reason: string },
): Promise<void> {
  await queries
    .updateTable('core_rollouts')
    .set({ stopped_at, reason })
    .where('version', '=', version)
    .execute();
}

/** Lets a stopped rollout continue. False if it was not stopped. */
export async function resumeRollout(queries: Queries, version: string, resumed_at: string): Promise<boolean> {
  const row = await queries
    .updateTable('core_rollouts')
    .set({ stopped_at: null, reason: null, resumed_at })
    .where('version', '=', version)
    .where('stopped_at', 'is not', null)
    .returning('version')
    .executeTakeFirst();
  return row !== undefined;
}
