import { type ExpressionBuilder, sql } from 'kysely';
import type { Queries } from '../../../database/database.ts';
import type { Tables } from '../../../database/tables.ts';
import { hasWithoutIndex } from '../../../database/without-index.ts';
import type { ListSort } from './install-conditions.ts';
import {
  isInOrder,
  type Listing,
  listed,
  listedInNeed,
  matching,
  meeting,
} from './listed-conditions-store.ts';
import { needsAttention } from './store.ts';

type InstallExpressions = ExpressionBuilder<Tables & { install: Tables['installs'] }, 'install'>;

/** The requested part of a list. */
interface Part {
  isDescending: boolean;
  limit: number;
  offset: number;
}

/** The values that an order compares before the names, in the words of the index that has them. `updates`: the most come first. */
function sortValue(eb: InstallExpressions, sort: Exclude<ListSort, 'name' | 'created'>, soon: string) {
  switch (sort) {
    case 'domain':
      return sql`(select name from primary_domains where install_id = install.id)`;
    case 'status':
      return sql`case when ${needsAttention(eb, soon)} then 0 when install.status = 'active' then 1 else 2 end`;
    case 'environment':
      return sql`case install.environment when 'production' then 0 when 'staging' then 1 when 'development' then 2 else 3 end`;
    case 'site':
      return sql`coalesce((select lower(name) from sites where id = install.site_id), '')`;
    case 'php':
      return sql`coalesce(install.php_version, '')`;
    case 'updates':
      return sql`-install.waiting_updates`;
  }
}

/** The ids of one page of the installs that match, in this order. Equal ones are in the order of their names. */
export function orderedIds(
  queries: Queries,
  listing: Listing,
  sort: ListSort,
  part: Part,
): Promise<string[]> {
  // No index of installs has these orders.
  if (isInOrder(queries, listing)) {
    if (sort === 'domain') return byDomain(queries, listing, part);
    if (sort === 'site') return pageOfSegments(bySite(queries, listing), part);
    if (sort === 'status') return pageOfSegments(byStatus(queries, listing), part);
  }
  const direction = part.isDescending ? 'desc' : 'asc';
  const { soon } = listing.conditions;
  const rows = listed(queries, listing).select('install.id');
  if (sort === 'created') return idsOf(rows.orderBy('install.seq', direction), part);
  if (sort === 'name') return idsOf(rows.orderBy('install.name', direction), part);
  return idsOf(
    rows.orderBy((eb) => sortValue(eb, sort, soon), direction).orderBy('install.name', direction),
    part,
  );
}

async function idsOf(
  rows: {
    limit(most: number): {
      offset(first: number): { execute(): Promise<{ id: string }[]> };
    };
  },
  { limit, offset }: Pick<Part, 'limit' | 'offset'>,
): Promise<string[]> {
  return (await rows.limit(limit).offset(offset).execute()).map(({ id }) => id);
}

/** A part of an order, whose installs come before all those of the next one. */
interface Segment {
  ids(part: Part): Promise<string[]>;
  count(): Promise<number>;
}

async function pageOfSegments(
  segments: readonly Segment[],
  { isDescending, limit, offset }: Part,
): Promise<string[]> {
  const found: string[] = [];
  let skipped = offset;
  for (const segment of isDescending ? segments.toReversed() : segments) {
    const ids = await segment.ids({ isDescending, limit: limit - found.length, offset: skipped });
    found.push(...ids);
    if (found.length >= limit) break;
    // A page that begins after this segment skips all of it.
    skipped = ids.length > 0 || skipped === 0 ? 0 : skipped - (await segment.count());
  }
  return found;
}

/** Installs in the order of their primary domains. */
function byDomain(queries: Queries, { scope, conditions }: Listing, part: Part): Promise<string[]> {
  // SQLite reads the tables of a cross join in this order.
  const rows = queries
    .selectFrom('primary_domains as named')
    .crossJoin('installs as install')
    .whereRef('install.id', '=', 'named.install_id')
    .where(
      'named.account_id',
      'in',
      scope.whole.map((membership) => membership.account_id),
    )
    .where((eb) => meeting(eb, conditions))
    .select('install.id')
    .orderBy('named.name', directionOf(part));
  return idsOf(rows, part);
}

/** Installs without a site, and then the others in the order of the names of their sites. */
function bySite(queries: Queries, { scope, conditions }: Listing): Segment[] {
  const accountIds = scope.whole.map((membership) => membership.account_id);
  const unassigned = queries
    .selectFrom('installs as install')
    .where('install.site_id', 'is', null)
    .where((eb) => matching(eb, scope, conditions));
  // SQLite reads the tables of a cross join in this order. The installs of a site are its account's.
  const assigned = queries
    .selectFrom('sites as site')
    .crossJoin('installs as install')
    .whereRef('install.site_id', '=', 'site.id')
    .where('site.account_id', 'in', accountIds)
    .where((eb) => meeting(eb, conditions));
  return [
    {
      ids: (part) => idsOf(unassigned.select('install.id').orderBy('install.name', directionOf(part)), part),
      count: () => countOf(unassigned.select((eb) => eb.fn.countAll<number>().as('count'))),
    },
    {
      ids: (part) =>
        idsOf(
          assigned
            .select('install.id')
            .orderBy(sql`lower(site.name)`, directionOf(part))
            .orderBy('install.name', directionOf(part)),
          part,
        ),
      count: () => countOf(assigned.select((eb) => eb.fn.countAll<number>().as('count'))),
    },
  ];
}

/** Installs that need attention, active ones, and the others. */
function byStatus(queries: Queries, listing: Listing): Segment[] {
  const { scope, conditions } = listing;
  const inNeed = listedInNeed(queries, listing);
  const isOther = (eb: InstallExpressions) =>
    eb.and([
      matching(eb, scope, conditions),
      // Without a backup, the condition is neither true nor false.
      sql<boolean>`case when ${needsAttention(eb, conditions.soon)} then 1 else 0 end = 0`,
    ]);
  // Nearly all are active, and read in the order of their names.
  const active = queries
    .selectFrom('installs as install')
    .where(hasWithoutIndex('install.status', 'active'))
    .where(isOther);
  // Those being created are few, and read first: in the order of names, SQLite would look at all others.
  const pending = queries
    .with(
      (name) => name('few').materialized(),
      (few) =>
        few
          .selectFrom('installs as install')
          .selectAll('install')
          .where(
            'install.account_id',
            'in',
            scope.whole.map((membership) => membership.account_id),
          )
          .where('install.status', '=', 'pending'),
    )
    .selectFrom('few as install')
    .where(isOther);
  return [
    {
      ids: (part) => idsOf(inNeed.select('install.id').orderBy('install.name', directionOf(part)), part),
      count: () => countOf(inNeed.select((eb) => eb.fn.countAll<number>().as('count'))),
    },
    ...[active, pending].map((installs) => ({
      ids: (part: Part) =>
        idsOf(installs.select('install.id').orderBy('install.name', directionOf(part)), part),
      count: () => countOf(installs.select((eb) => eb.fn.countAll<number>().as('count'))),
    })),
  ];
}

const directionOf = ({ isDescending }: Part) => (isDescending ? 'desc' : 'asc');

const countOf = async (query: { executeTakeFirstOrThrow(): Promise<{ count: number }> }): Promise<number> =>
  (await query.executeTakeFirstOrThrow()).count;
