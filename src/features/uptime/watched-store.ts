import { setImmediate as nextTurn } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Queries } from '../../database/database.ts';

/** A website whose home page is asked for. */
export interface WatchedInstall {
  id: string;
  name: string;
  /** Null: the embedded host. */
  host_id: string | null;
  /** The main domain. */
  hostname: string;
  isSecure: boolean;
  /** Every name that it serves. */
  names: string[];
}

/** Websites that visitors have: production, in service, and not a copy that is still being made. Literals, for their index. */
const watched = (queries: Queries) =>
  queries
    .selectFrom('installs as install')
    .where('install.status', '=', sql.lit('active'))
    .where('install.environment', '=', sql.lit('production'))
    .where('install.awaits_copy', '=', sql.lit(false));

/** The number of watched websites, with the few that are copies still being made. */
export async function countWatched(queries: Queries): Promise<number> {
  const { count } = await queries
    .selectFrom('install_counts')
    .select(sql<number>`cast(coalesce(sum(installs), 0) as bigint)`.as('count'))
    .where('status', '=', 'active')
    .where('environment', '=', 'production')
    .executeTakeFirstOrThrow();
  return count;
}

/** Entries of the index that one query passes, in some milliseconds. */
const STEP = 100_000;

/** The place before the watched website with this number, in the order of their creation; null if there are not as many. */
export async function placeOfWatched(queries: Queries, offset: number, step = STEP): Promise<number | null> {
  let place = 0;
  // Other work goes on between the steps.
  for (let left = offset; ; left -= step, await nextTurn()) {
    const install = await watched(queries)
      .select('install.seq')
      .where('install.seq', '>', place)
      .orderBy('install.seq')
      .offset(Math.min(left, step))
      .limit(1)
      .executeTakeFirst();
    if (install === undefined) return null;
    place = install.seq - 1;
    if (left <= step) return place;
  }
}

/** The watched websites after a place, in the order of their creation, and the place after them; null at the end. */
export async function watchedInstalls(
  queries: Queries,
  { after, limit }: { after: number; limit: number },
): Promise<{ websites: WatchedInstall[]; end: number | null }> {
  const places = await watched(queries)
    .select('install.seq')
    .where('install.seq', '>', after)
    .orderBy('install.seq')
    .limit(limit)
    .execute();
  const end = places.at(-1)?.seq;
  if (end === undefined) return { websites: [], end: null };
  const rows = await watched(queries)
    .where('install.seq', '>', after)
    .where('install.seq', '<=', end)
    .innerJoin('domains as domain', 'domain.install_id', 'install.id')
    .leftJoin('certificates as certificate', 'certificate.domain_id', 'domain.id')
    .select(['install.id', 'install.name', 'install.host_id'])
    .select(['domain.name as domain', 'domain.is_primary', 'domain.is_cname'])
    .select('certificate.source')
    .where('domain.is_duplicate', '=', false)
    .where('domain.network_status', '=', 'ACTIVE')
    .orderBy('install.seq')
    .orderBy('domain.seq')
    .execute();
  const installs = new Map<string, WatchedInstall & { rank: number }>();
  for (const row of rows) {
    // The main domain, else the name that every install has.
    const rank = row.is_primary ? 2 : row.is_cname ? 1 : 0;
    const known = installs.get(row.id);
    const names = [...(known?.names ?? []), row.domain];
    if (known !== undefined && known.rank >= rank) known.names = names;
    else {
      const { id, name, host_id, domain } = row;
      // Visitors of others use HTTP: a browser warns them of a self-signed certificate.
      const isSecure = row.source !== null && row.source !== 'SELF_SIGNED';
      installs.set(id, { id, name, host_id, hostname: domain, isSecure, names, rank });
    }
  }
  const websites = [...installs.values()]
    .filter(({ rank }) => rank > 0)
    .map(({ rank: _, ...install }) => install);
  return { websites, end: places.length < limit ? null : end };
}

/** Whether an install is watched now. */
export async function isWatched(queries: Queries, installId: string): Promise<boolean> {
  const row = await watched(queries)
    .select('install.id')
    .where('install.id', '=', installId)
    .executeTakeFirst();
  return row !== undefined;
}

/** The installs that are no longer watched, but have an incident that has not ended. */
export async function unwatchedWithIncident(queries: Queries): Promise<string[]> {
  const rows = await queries
    .selectFrom('uptime_incidents as incident')
    .select('incident.install_id')
    .where('incident.ended_at', 'is', null)
    .where(({ not, exists }) =>
      not(
        exists(
          watched(queries).select('install.id').whereRef('install.id', '=', sql.ref('incident.install_id')),
        ),
      ),
    )
    .execute();
  return rows.map(({ install_id }) => install_id);
}
