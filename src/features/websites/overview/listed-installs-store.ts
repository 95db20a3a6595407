import { type ExpressionBuilder, sql } from 'kysely';
import { inScope, type Scope } from '../../../access/memberships.ts';
import { countBounded } from '../../../database/bounded-page.ts';
import type { Queries } from '../../../database/database.ts';
import type { Tables } from '../../../database/tables.ts';
import { hasStoredCounts, storedCount } from '../installs/counts-store.ts';
import { isTagged } from '../installs/list-store.ts';
import { ATTENTION, type InstallConditions, type ListSort, NONE } from './install-conditions.ts';
import { patternOf } from './search-store.ts';
import { needsAttention } from './store.ts';

type InstallExpressions = ExpressionBuilder<Tables & { install: Tables['installs'] }, 'install'>;

function matching(eb: InstallExpressions, scope: Scope, conditions: InstallConditions) {
  const { texts, status, environment, site, soon, tags } = conditions;
  const found = texts
    .map(patternOf)
    .flatMap((pattern) => [
      sql<boolean>`install.name like ${pattern} escape '\\'`,
      eb.exists(
        eb
          .selectFrom('domains as sought')
          .select('sought.id')
          .whereRef('sought.install_id', '=', 'install.id')
          .where(sql<boolean>`sought.name like ${pattern} escape '\\'`),
      ),
    ]);
  return eb.and([
    inScope(eb, scope),
    ...(found.length === 0 ? [] : [eb.or(found)]),
    ...(status === undefined
      ? []
      : [status === ATTENTION ? needsAttention(eb, soon) : eb(sql<string>`install.status`, '=', status)]),
    ...(environment === undefined
      ? []
      : [
          environment === NONE
            ? eb('install.environment', 'is', null)
            : eb(sql<string>`install.environment`, '=', environment),
        ]),
    ...(site === undefined
      ? []
      : [site === NONE ? eb('install.site_id', 'is', null) : eb('install.site_id', '=', site)]),
    ...(tags === undefined ? [] : [isTagged(eb, tags)]),
  ]);
}

/** Installs with their primary domain, their site and the number of their updates, as the list shows and sorts them. */
const withPlace = (queries: Queries, scope: Scope, conditions: InstallConditions) =>
  queries
    .selectFrom('installs as install')
    .leftJoin('domains as domain', (join) =>
      join.onRef('domain.install_id', '=', 'install.id').on(sql<boolean>`domain.is_primary`),
    )
    .leftJoin('sites as site', 'site.id', 'install.site_id')
    .leftJoin('wordpress_readings as known', 'known.install_id', 'install.id')
    .where((eb) => matching(eb, scope, conditions));

/** The sort orders that the database knows. */
export type StoredSort = Exclude<ListSort, 'domain'>;

/** The expression that a sort order compares. */
function sortKey(eb: InstallExpressions, sort: StoredSort, soon: string) {
  switch (sort) {
    case 'name':
      return sql`install.name`;
    case 'status':
      return sql`case when ${needsAttention(eb, soon)} then 0 when install.status = 'active' then 1 else 2 end`;
    case 'environment':
      return sql`case install.environment when 'production' then 0 when 'staging' then 1 when 'development' then 2 else 3 end`;
    case 'site':
      return sql`coalesce(lower(site.name), '')`;
    case 'php':
      return sql`coalesce(install.php_version, '')`;
    case 'updates':
      return sql`-(coalesce(known.plugin_updates, 0) + coalesce(known.theme_updates, 0) + case when known.core_update is null then 0 else 1 end)`;
    case 'created':
      return sql`install.seq`;
  }
}

const rowsOf = (query: ReturnType<typeof withPlace>) =>
  query.select([
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
  ]);

export type ListedRow = Awaited<ReturnType<typeof listedByIds>>[number];

/** One page of the installs that match, in this order. Equal ones are in the order of their names. */
export function listedInstalls(
  queries: Queries,
  scope: Scope,
  conditions: InstallConditions,
  {
    sort,
    isDescending,
    limit,
    offset,
  }: { sort: StoredSort; isDescending: boolean; limit: number; offset: number },
): Promise<ListedRow[]> {
  return (
    rowsOf(withPlace(queries, scope, conditions))
      .orderBy((eb) => sortKey(eb, sort, conditions.soon), isDescending ? 'desc' : 'asc')
      // No two installs have the same name, and a further order would not be that of the index.
      .$if(sort !== 'name', (query) => query.orderBy('install.name').orderBy('install.seq'))
      .limit(limit)
      .offset(offset)
      .execute()
  );
}

/** These installs, in any order. */
export function listedByIds(
  queries: Queries,
  scope: Scope,
  conditions: InstallConditions,
  ids: readonly string[],
) {
  return rowsOf(withPlace(queries, scope, conditions))
    .where('install.id', 'in', ids)
    .execute();
}

/** The names of all installs that match, to sort them. `most`: their number, if it is known to be small. */
export function namesOfListed(
  queries: Queries,
  scope: Scope,
  conditions: InstallConditions,
  most: number | null,
) {
  return withPlace(queries, scope, conditions)
    .select(['install.id', 'install.name', 'domain.name as primary_domain'])
    .$if(most !== null, (query) => query.limit(most ?? 0))
    .execute();
}

/** The values by which stored counts know the installs that match; null if they do not. */
function countedValues(scope: Scope, { texts, status, environment, site, tags }: InstallConditions) {
  if (!hasStoredCounts(scope) || status === ATTENTION || texts.length > 0) return null;
  if (site !== undefined || tags !== undefined) return null;
  return {
    ...(status === undefined ? {} : { status }),
    ...(environment === undefined ? {} : { environment: environment === NONE ? null : environment }),
  };
}

/** The number of installs that match. Whole accounts store it for most conditions. */
export async function countListed(
  queries: Queries,
  scope: Scope,
  conditions: InstallConditions,
): Promise<number> {
  const stored = countedValues(scope, conditions);
  if (stored !== null) return storedCount(queries, scope, stored);
  const { count } = await queries
    .selectFrom('installs as install')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where((eb) => matching(eb, scope, conditions))
    .executeTakeFirstOrThrow();
  return count;
}

/** The number of installs without a site, at most 10,000. A partial index has them. */
export const countUnassigned = (queries: Queries, scope: Scope): Promise<number> =>
  countBounded(
    queries,
    queries
      .selectFrom('installs as install')
      .where((eb) => inScope(eb, scope))
      .where('install.site_id', 'is', null),
  );

/** All installs that match, by name: what a selection needs. At most `most`; with `ids`, those among them. */
export function matchingInstalls(
  queries: Queries,
  scope: Scope,
  conditions: InstallConditions,
  { ids, most }: { ids: readonly string[] | undefined; most: number },
) {
  return queries
    .selectFrom('installs as install')
    .leftJoin('sites as site', 'site.id', 'install.site_id')
    .select(['install.id', 'install.name', 'install.php_version', 'install.site_id', 'site.tags'])
    .where((eb) => matching(eb, scope, conditions))
    .$if(ids !== undefined, (query) => query.where('install.id', 'in', ids ?? []))
    .orderBy('install.name')
    .limit(most)
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
