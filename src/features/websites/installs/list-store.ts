import { type ExpressionBuilder, sql } from 'kysely';
import { inScope, type Scope } from '../../../access/memberships.ts';
import type { Queries } from '../../../database/database.ts';
import { beyond, placedPage, sliceOf } from '../../../database/sorted-page.ts';
import type { Tables } from '../../../database/tables.ts';
import { hasWithoutIndex, numberWithoutIndex } from '../../../database/without-index.ts';
import type { PlacedPage, SortedRequest } from '../../../lib/page.ts';
import { countsOfTag, hasTags, sitesWithTag } from '../site-tags/tagged-store.ts';
import { hasStoredCounts, storedCount } from './counts-store.ts';
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
export const isTagged = (_eb: InstallExpressions, keys: string) => hasTags(sql.ref('install.site_id'), keys);

/**
 * How the databases read a list: the few installs that match, which are then sorted, or all in the order of an index. Few entries: as few,
 * in an index that has all columns of the filters, so that only the installs of the page are read.
 */
type Reading = 'few' | 'few entries' | 'in order';

/**
 * Few installs have a site or a domain. For other filters the number of matching installs decides, so that neither way reads more than
 * the square root of all times the page: 10,000 of a million.
 */
function readingOf(
  scope: Scope,
  filters: InstallFilters,
  limit: number,
  count: number,
): Exclude<Reading, 'few entries'> {
  if (filters.site_id !== undefined || filters.domain !== undefined) return 'few';
  if (!isCounted(scope, filters) && !isByTag(scope, filters)) return 'in order';
  return isFew(scope, limit, count) ? 'few' : 'in order';
}

/** Whether so few installs of a scope match that reading and sorting them takes no longer than a page in the order of an index. */
export function isFew({ whole }: Scope, limit: number, count: number): boolean {
  const all = whole.reduce((sum, membership) => sum + membership.install_count, 0);
  return count * count <= all * limit;
}

/** Whether an index has the installs that match: those of whole accounts with a tag. */
const isByTag = (scope: Scope, { tags }: InstallFilters): boolean =>
  tags !== undefined && hasStoredCounts(scope);

/** Whether the number of installs that match is stored. */
function isCounted(scope: Scope, { status, environment, ...others }: InstallFilters): boolean {
  return hasStoredCounts(scope) && Object.keys(others).length === 0;
}

/**
 * The installs of a list. Without statistics, SQLite would read the whole account to get the order of the list from an index, or all
 * installs of a status to sort them.
 */
function listed(queries: Queries, scope: Scope, filters: InstallFilters, reading: Reading) {
  if (reading !== 'few') {
    return queries.selectFrom('installs as install').where((eb) => matching(eb, scope, filters, reading));
  }
  const { site_id, domain } = filters;
  return queries
    .with(
      (name) => name('few').materialized(),
      (few) =>
        few
          .selectFrom('installs as install')
          .selectAll('install')
          .$if(site_id !== undefined, (query) => query.where('install.site_id', '=', site_id ?? ''))
          .$if(domain !== undefined, (query) =>
            query.where('install.id', 'in', (eb) =>
              eb
                .selectFrom('domains')
                .select('install_id')
                .where('name', '=', domain ?? ''),
            ),
          )
          .$if(site_id === undefined && domain === undefined && filters.tags !== undefined, (query) =>
            query.where(
              'install.site_id',
              'in',
              sitesWithTag(queries, accountsOf(scope), filters.tags ?? ''),
            ),
          )
          .$if(site_id === undefined && domain === undefined && filters.tags === undefined, (query) =>
            query.where((eb) => matching(eb, scope, filters, reading)),
          ),
    )
    .selectFrom('few as install')
    .where((eb) => matching(eb, scope, filters, reading));
}

const accountsOf = ({ whole }: Pick<Scope, 'whole'>) => whole.map((membership) => membership.account_id);

function matching(eb: InstallExpressions, scope: Scope, filters: InstallFilters, reading: Reading) {
  const { name, status, environment, tags } = filters;
  const has = (column: 'install.status' | 'install.environment', value: string) =>
    reading === 'in order' ? hasWithoutIndex(column, value) : eb(sql.ref<string>(column), '=', value);
  return eb.and([
    inScope(eb, scope),
    ...(name === undefined ? [] : [eb('install.name', '=', name)]),
    ...(status === undefined ? [] : [has('install.status', status)]),
    ...(environment === undefined ? [] : [has('install.environment', environment)]),
    ...(tags === undefined ? [] : [isTagged(eb, tags)]),
  ]);
}

/** The installs of a list, for other lists of them. `count`: how many match. */
export const installsMatching = (
  queries: Queries,
  scope: Scope,
  filters: InstallFilters,
  { limit, count }: { limit: number; count: number },
) => listed(queries, scope, filters, readingOf(scope, filters, limit, count));

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
  const slice = sliceOf(page, isStored ? { sql: storedTotal(scope), estimate: count } : null);
  const column = key === null ? null : (`install.${key}` as const);
  const position = page.cursor?.position ?? null;
  const reading = readingOf(scope, filters, page.limit, count);
  const isOfEntries = reading === 'few' && column === null && isCounted(scope, filters);
  const seq = isOfEntries ? numberWithoutIndex('install.seq') : sql.ref<number>('install.seq');
  const rows = await withPrimaryDomain(queries)
    .select('install.seq')
    .where(
      'install.seq',
      'in',
      listed(queries, scope, filters, isOfEntries ? 'few entries' : reading)
        .select('install.seq')
        .$if(position !== null, (query) =>
          position === null ? query : query.where(beyond(column, seq, position, slice)),
        )
        .$if(column !== null, (query) => (column === null ? query : query.orderBy(column, slice.direction)))
        .orderBy(seq, slice.direction)
        .limit(slice.limit)
        .offset(slice.offset),
    )
    .$if(column !== null, (query) => (column === null ? query : query.orderBy(column, slice.direction)))
    .orderBy('install.seq', slice.direction)
    .execute();
  return placedPage(rows, count, page, slice, (row) => (key === null ? '' : row[key]));
}

function storedTotal({ whole }: Pick<Scope, 'whole'>) {
  const ids = accountsOf({ whole });
  return sql<number>`(select cast(coalesce(sum(install_count), 0) as bigint) from accounts where id in (${sql.join(ids)}))`;
}

/** The number of installs in a scope that match. Whole accounts store it for most filters. */
export async function countInstalls(
  queries: Queries,
  scope: Scope,
  filters: InstallFilters,
): Promise<number> {
  const { status, environment } = filters;
  if (isCounted(scope, filters)) {
    return storedCount(queries, scope, {
      ...(status === undefined ? {} : { status }),
      ...(environment === undefined ? {} : { environment }),
    });
  }
  const { tags, ...others } = filters;
  const tagged =
    isByTag(scope, filters) && Object.keys(others).length === 0
      ? await countsOfTag(queries, accountsOf(scope), tags ?? '')
      : null;
  if (tagged !== null) return tagged.installs;
  const { count } = await listed(queries, scope, filters, readingOf(scope, filters, 1, 0))
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return count;
}
