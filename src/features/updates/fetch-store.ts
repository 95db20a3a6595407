import type { Queries } from '../../database/database.ts';

/** Notes that a host fetched releases of WordPress. `reason`: why it could not fetch all; null if it could. */
export async function noteFetch(
  queries: Queries,
  hostId: string,
  fetch: { fetched_at: string; reason: string | null },
): Promise<void> {
  await queries
    .insertInto('release_fetches')
    .values({ host_id: hostId, ...fetch })
    .onConflict((conflict) => conflict.column('host_id').doUpdateSet(fetch))
    .execute();
}

/** The last fetch of each host that fetched before, by the hosts' names. */
export function lastFetches(
  queries: Queries,
): Promise<{ name: string; fetched_at: string; reason: string | null }[]> {
  return queries
    .selectFrom('release_fetches as fetch')
    .innerJoin('hosts as host', 'host.id', 'fetch.host_id')
    .select(['host.name', 'fetch.fetched_at', 'fetch.reason'])
    .orderBy('host.name')
    .execute();
}
