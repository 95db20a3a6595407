import type { Insertable, Updateable } from 'kysely';
import type { Queries } from '../../../database/database.ts';
import { OPEN_REBUILD, type RebuildStep } from '../../../database/tables/rebuilds.ts';
import type { Tables } from '../../../database/tables.ts';

export async function insertRebuild(
  queries: Queries,
  rebuild: Insertable<Tables['rebuilds']>,
): Promise<void> {
  await queries.insertInto('rebuilds').values(rebuild).execute();
}

export function findRebuild(queries: Queries, id: string) {
  return queries.selectFrom('rebuilds').selectAll().where('id', '=', id).executeTakeFirst();
}

/** The unfinished rebuild of an install. */
export function openRebuild(queries: Queries, installId: string) {
  return queries
    .selectFrom('rebuilds')
    .selectAll()
    .where('install_id', '=', installId)
    .where('step', 'in', [...OPEN_REBUILD])
    .executeTakeFirst();
}

/** The rebuilds of the installs of a host since it was last given up, the latest of each install, in the order of their first requests. */
export async function latestRebuilds(queries: Queries, hostId: string) {
  const rows = await queries
    .selectFrom('rebuilds')
    .selectAll()
    .where('from_host', '=', hostId)
    .orderBy('seq')
    .execute();
  const lostAt = rows.at(-1)?.lost_at;
  const latest = new Map(rows.filter((row) => row.lost_at === lostAt).map((row) => [row.install_id, row]));
  return [...latest.values()];
}

/** The unfinished rebuilds on a host. */
export function openRebuildsOn(queries: Queries, hostId: string) {
  return queries
    .selectFrom('rebuilds')
    .select(['id', 'job_id'])
    .where('to_host', '=', hostId)
    .where('step', '=', 'restoring')
    .execute();
}

/** Changes a rebuild that is in one of these steps. False if it is not. */
export async function changeRebuild(
  queries: Queries,
  id: string,
  from: readonly RebuildStep[],
  change: Updateable<Tables['rebuilds']>,
): Promise<boolean> {
  const changed = await queries
    .updateTable('rebuilds')
    .set(change)
    .where('id', '=', id)
    .where('step', 'in', [...from])
    .returning('id')
    .executeTakeFirst();
  return changed !== undefined;
}

/** The active installs of a host, those with the most visits since `day` (`YYYY-MM-DD`) first. */
export async function installsByVisits(queries: Queries, hostId: string, day: string) {
  return queries
    .selectFrom('installs as install')
    .select(['install.id', 'install.name'])
    .select((eb) =>
      eb
        .selectFrom('usage_traffic as traffic')
        .select((of) => of.fn.coalesce(of.fn.sum<number>('traffic.visits'), of.lit(0)).as('visits'))
        .whereRef('traffic.install_id', '=', 'install.id')
        .where('traffic.day', '>=', day)
        .as('visits'),
    )
    .where('install.host_id', '=', hostId)
    .where('install.status', '=', 'active')
    .orderBy('visits', 'desc')
    .orderBy('install.seq')
    .execute();
}

/** How many installs each host gets by rebuilds of others than this one that have chosen it and are not there yet. */
export async function expectedCounts(queries: Queries, installId: string): Promise<Map<string, number>> {
  const rows = await queries
    .selectFrom('rebuilds')
    .select((eb) => ['to_host', eb.fn.countAll<number>().as('count')])
    .where('step', '=', 'placing')
    .where('install_id', '!=', installId)
    .where('to_host', 'is not', null)
    .groupBy('to_host')
    .execute();
  return new Map(rows.flatMap(({ to_host, count }) => (to_host === null ? [] : [[to_host, Number(count)]])));
}

/** What was done with an install between two times, oldest first, as the names of actions. */
export async function actionsBetween(
  queries: Queries,
  installId: string,
  { after, until }: { after: string; until: string },
): Promise<string[]> {
  const rows = await queries
    .selectFrom('activity')
    .select('action')
    .where('install_id', '=', installId)
    .where('at', '>', after)
    .where('at', '<=', until)
    .where('action', '!=', 'backup.create')
    .orderBy('seq')
    .execute();
  return [...new Set(rows.map(({ action }) => action))];
}

/** Says of an install that its website is not there yet, so that nothing of it is backed up. */
export async function markLost(queries: Queries, installId: string, reason: string): Promise<void> {
  await queries.updateTable('installs').set({ lost_data: reason }).where('id', '=', installId).execute();
}

/** Lets installs that were never active on a host be placed anew. */
export async function freePending(queries: Queries, hostId: string): Promise<void> {
  await queries
    .updateTable('installs')
    .set({ host_id: null })
    .where('host_id', '=', hostId)
    .where('status', '=', 'pending')
    .execute();
}
