import { sql } from 'kysely';
import { inScope, type Scope } from '../../../access/memberships.ts';
import { countBounded } from '../../../database/bounded-page.ts';
import type { Queries } from '../../../database/database.ts';
import type { InstallConditions } from './install-conditions.ts';
import { type Listing, listed, matching } from './listed-conditions-store.ts';

export type ListedRow = Awaited<ReturnType<typeof listedByIds>>[number];

/** These installs with their primary domain, their site and their updates, in the order of the ids. */
export async function listedByIds(queries: Queries, ids: readonly string[]) {
  if (ids.length === 0) return [];
  const rows = await queries
    .selectFrom('installs as install')
    .leftJoin('domains as domain', (join) =>
      join.onRef('domain.install_id', '=', 'install.id').on(sql<boolean>`domain.is_primary`),
    )
    .leftJoin('sites as site', 'site.id', 'install.site_id')
    .leftJoin('wordpress_readings as known', 'known.install_id', 'install.id')
    .select([
      'install.id',
      'install.name',
      'install.status',
      'install.environment',
      'install.php_version',
      'install.created_at',
      'install.site_id',
      'site.name as site_name',
      'site.tags',
      'domain.name as primary_domain',
      'known.core_update',
      'known.plugin_updates',
      'known.theme_updates',
    ])
    .where('install.id', 'in', ids)
    .execute();
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ids.flatMap((id) => [byId.get(id)].filter((row) => row !== undefined));
}

/** The names of all installs that match, to sort them by numbers in their names. */
export const namesOfListed = (queries: Queries, listing: Listing, most: number) =>
  listed(queries, listing).select(['install.id', 'install.name as text']).limit(most).execute();

/** Their primary domains, or their names without one. */
export const domainsOfListed = (queries: Queries, listing: Listing, most: number) =>
  listed(queries, listing)
    .innerJoin('primary_domains as named', 'named.install_id', 'install.id')
    .select(['install.id', 'named.name as text'])
    .limit(most)
    .execute();

/** The number of installs without a site, at most 10,000. A partial index has them. */
export const countUnassigned = (queries: Queries, scope: Scope): Promise<number> =>
  countBounded(
    queries,
    queries
      .selectFrom('installs as install')
      .where((eb) => inScope(eb, scope))
      .where('install.site_id', 'is', null),
  );

/** All installs that match, by name: what a selection needs. At most `limit`; with `ids`, those among them. */
export function matchingInstalls(queries: Queries, listing: Listing, ids: readonly string[] | undefined) {
  const { scope, conditions, limit } = listing;
  const found =
    ids === undefined
      ? listed(queries, listing)
      : queries
          .selectFrom('installs as install')
          .where('install.id', 'in', ids)
          .where((eb) => matching(eb, scope, conditions));
  return found
    .leftJoin('sites as site', 'site.id', 'install.site_id')
    .select(['install.id', 'install.name', 'install.php_version', 'install.site_id', 'site.tags'])
    .orderBy('install.name')
    .limit(limit)
    .execute();
}

/** The number of installs that match in each site, by the ID of the site. */
export async function sitesOfInstalls(
  queries: Queries,
  scope: Scope,
  conditions: InstallConditions,
): Promise<Map<string, number>> {
  const rows = await queries
    .selectFrom('installs as install')
    .select((eb) => ['install.site_id', eb.fn.countAll<number>().as('count')])
    .where((eb) => matching(eb, scope, conditions))
    .where('install.site_id', 'is not', null)
    .groupBy('install.site_id')
    .execute();
  return new Map(rows.flatMap(({ site_id, count }) => (site_id === null ? [] : [[site_id, count] as const])));
}
