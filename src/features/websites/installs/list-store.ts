import { type ExpressionBuilder, sql } from 'kysely';
import { inScope, type Scope } from '../../../access/memberships.ts';
import type { Queries } from '../../../database/database.ts';
import { beyond, placedPage, sliceOf } from '../../../database/sorted-page.ts';
import type { Tables } from '../../../database/tables.ts';
import type { PlacedPage, SortedRequest } from '../../../lib/page.ts';
import { hasTags } from '../site-tags/tagged-store.ts';
import { type InstallView, withPrimaryDomain } from './store.ts';

/** Conditions that a list of installs must meet. */
export interface InstallFilters {
  name?: string;
  status?: string;
  environment?: string;
  site_id?: string;
  /** Host name of one of the install's domains. */
  domain?: string;
  /** Keys of tags, separated by commas: the install's site has all of them. */
  tags?: string;
}

type InstallExpressions = ExpressionBuilder<Tables & { install: Tables['installs'] }, 'install'>;

/** A condition: the site of the install has all these tags. `keys` are separated by commas. */
export const isTagged = (eb: InstallExpressions, keys: string) =>
  eb.exists(
    eb
      .selectFrom('sites as tagged')
      .select('tagged.id')
      .whereRef('tagged.id', '=', 'install.site_id')
      .where(hasTags(sql.ref('tagged.tag_keys'), keys)),
  );

/**
 * The installs of a list. A filter that few installs meet is applied first: SQLite would read the whole account to get the order of the
 * list from an index.
 */
function listed(queries: Queries, { site_id, domain }: InstallFilters) {
  if (site_id === undefined && domain === undefined) return queries.selectFrom('installs as install');
  return queries
    .with(
      (name) => name('few').materialized(),
      (few) =>
        few
          .selectFrom('installs')
          .selectAll()
          .$if(site_id !== undefined, (query) => query.where('site_id', '=', site_id ?? ''))
          .$if(domain !== undefined, (query) =>
            query.where('id', 'in', (eb) =>
              eb
                .selectFrom('domains')
                .select('install_id')
                .where('name', '=', domain ?? ''),
            ),
          ),
    )
    .selectFrom('few as install');
}

function matching(eb: InstallExpressions, scope: Scope, filters: InstallFilters) {
  const { name, status, environment, tags } = filters;
  return eb.and([
    inScope(eb, scope),
    ...(name === undefined ? [] : [eb('install.name', '=', name)]),
    ...(status === undefined ? [] : [eb(sql<string>`install.status`, '=', status)]),
    ...(environment === undefined ? [] : [eb(sql<string>`install.environment`, '=', environment)]),
    ...(tags === undefined ? [] : [isTagged(eb, tags)]),
  ]);
}

/** The columns by which the list can be sorted. */
export type InstallSort = 'name' | 'created_at';

/** A page of the installs in a scope. The offset is applied in an index, before any row is read. */
export async function pageOfInstalls(
  queries: Queries,
  scope: Scope,
  page: SortedRequest<InstallSort>,
  filters: InstallFilters,
  count: number,
): Promise<PlacedPage<InstallView>> {
  const { key } = page.sort;
  const isStored = hasStoredCounts(scope) && Object.keys(filters).length === 0;
  const slice = sliceOf(page, isStored ? { sql: storedCount(scope), estimate: count } : null);
  const column = key === null ? null : (`install.${key}` as const);
  const position = page.cursor?.position ?? null;
  const rows = await withPrimaryDomain(queries)
    .select('install.seq')
    .where(
      'install.seq',
      'in',
      listed(queries, filters)
        .select('install.seq')
        .where((inner) => matching(inner, scope, filters))
        .$if(position !== null, (query) =>
          position === null ? query : query.where(beyond(column, 'install.seq', position, slice)),
        )
        .$if(column !== null, (query) => (column === null ? query : query.orderBy(column, slice.direction)))
        .orderBy('install.seq', slice.direction)
        .limit(slice.limit)
        .offset(slice.offset),
    )
    .$if(column !== null, (query) => (column === null ? query : query.orderBy(column, slice.direction)))
    .orderBy('install.seq', slice.direction)
    .execute();
  return placedPage(rows, count, page, slice, (row) => (key === null ? '' : row[key]));
}

/** Whether the number of installs in the scope is stored with its accounts. */
function hasStoredCounts({ installIds, partial }: Scope): boolean {
  return installIds === null && partial.length === 0;
}

function storedCount({ whole }: Scope) {
  const ids = whole.map((membership) => membership.account_id);
  return sql<number>`(select cast(coalesce(sum(install_count), 0) as bigint) from accounts where id in (${sql.join(ids)}))`;
}

/** The number of installs in a scope that match. Whole accounts store theirs. */
export async function countInstalls(
  queries: Queries,
  scope: Scope,
  filters: InstallFilters,
): Promise<number> {
  const whole = scope.whole.reduce((sum, membership) => sum + membership.install_count, 0);
  if (hasStoredCounts(scope) && Object.keys(filters).length === 0) return whole;
  const { count } = await listed(queries, filters)
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where((eb) => matching(eb, scope, filters))
    .executeTakeFirstOrThrow();
  return count;
}
