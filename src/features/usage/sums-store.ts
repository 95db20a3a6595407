import { type RawBuilder, sql } from 'kysely';
import { inScope } from '../../access/memberships.ts';
import type { Queries } from '../../database/database.ts';
import type { Environment } from '../../database/tables/installs.ts';
import { hasWithoutIndex } from '../../database/without-index.ts';
import { SITE_TYPE, type SiteType, STANDARD } from './counted-store.ts';
import type { DayRange } from './days.ts';
import type { UsageScope } from './store.ts';

// Sums over all installs of an account, which no stored number gives: storage is averaged and measured for each install, and kinds of installs
// change. They are made of parts, so that other requests can be answered in between.

/** Installs in a part of a sum. SQLite reads a month of each of them in some milliseconds. */
const LENGTH = 200;

/** Some installs of an account's usage: present ones by their `seq`, or those that left it by their id. */
export type Part =
  | { isPresent: true; after: number; to: number }
  | { isPresent: false; after: string | null; to: string };

/** Columns of the traffic that are added. */
const TRAFFIC_COLUMNS = ['requests', 'bytes', 'visits'] as const;
/** Columns of the storage that are added. */
const STORAGE_COLUMNS = [
  'file_bytes',
  'database_bytes',
  'data_bytes',
  'tables_count',
  'autoloaded_bytes',
] as const;
type TrafficSums = Record<(typeof TRAFFIC_COLUMNS)[number], number>;
/** Null: of no install known. */
export type StorageSums = Record<(typeof STORAGE_COLUMNS)[number], number | null>;

/** The kind of the installs that are summed together. */
export interface Kind {
  environment: Environment | null;
  site_type: SiteType;
}

/** All installs of an account's usage in parts. Those that left the account come last, and only for those who see the whole account. */
export async function* partsOf(queries: Queries, { accountId, isWhole }: UsageScope): AsyncGenerator<Part> {
  for (let after = 0; ; ) {
    const { to } = await queries
      .selectFrom((eb) =>
        eb
          .selectFrom('installs')
          .select('seq')
          .where('account_id', '=', accountId)
          .where('seq', '>', after)
          .orderBy('seq')
          .limit(LENGTH)
          .as('part'),
      )
      .select((eb) => eb.fn.max<number | null>('seq').as('to'))
      .executeTakeFirstOrThrow();
    if (to === null) break;
    yield { isPresent: true, after, to };
    after = to;
  }
  if (!isWhole) return;
  for (let after: string | null = null; ; ) {
    const rows: { install_id: string }[] = await queries
      .selectFrom('usage_former_installs')
      .select('install_id')
      .where('account_id', '=', accountId)
      .$if(after !== null, (query) => query.where('install_id', '>', after ?? ''))
      .orderBy('install_id')
      .limit(LENGTH)
      .execute();
    const to = rows.at(-1)?.install_id;
    if (to === undefined) break;
    yield { isPresent: false, after, to };
    after = to;
  }
}

/** The installs of a part. */
function installsIn(queries: Queries, { accountId, scope, isWhole }: UsageScope, part: Part) {
  if (part.isPresent) {
    return queries
      .selectFrom('installs as install')
      .leftJoin('sites as site', 'site.id', 'install.site_id')
      .select(['install.id', 'install.environment', SITE_TYPE])
      .where('install.account_id', '=', accountId)
      .where('install.seq', '>', part.after)
      .where('install.seq', '<=', part.to)
      .$if(!isWhole, (query) => query.where((eb) => inScope(eb, scope)));
  }
  const { after, to } = part;
  return queries
    .selectFrom('usage_former_installs as former')
    .innerJoin('usage_installs as gone', 'gone.install_id', 'former.install_id')
    .select(['gone.install_id as id', 'gone.environment', STANDARD])
    .where('former.account_id', '=', accountId)
    .$if(after !== null, (query) => query.where('former.install_id', '>', after ?? ''))
    .where('former.install_id', '<=', to);
}

const counted = (queries: Queries, of: UsageScope, part: Part) =>
  queries
    .with(
      (name) => name('counted').materialized(),
      () => installsIn(queries, of, part),
    )
    .selectFrom('counted');

/** SQLite and PostgreSQL overflow with whole numbers. */
const sumOf = (column: string): RawBuilder<number | null> =>
  sql<number | null>`sum(cast(${sql.ref(column)} as double precision))`;

/** Traffic of the installs of a part over a range, by their kinds. */
export function trafficOfPart(
  queries: Queries,
  of: UsageScope,
  part: Part,
  { first, last }: DayRange,
): Promise<(Kind & TrafficSums)[]> {
  return (
    counted(queries, of, part)
      // SQLite reads the tables of a cross join in this order. The index of accounts has all days of an account, so it is left aside.
      .crossJoin('usage_traffic as traffic')
      .whereRef('traffic.install_id', '=', 'counted.id')
      .where(hasWithoutIndex('traffic.account_id', of.accountId))
      .where('traffic.day', '>=', first)
      .where('traffic.day', '<=', last)
      .select(['counted.environment', 'counted.site_type'])
      .select(TRAFFIC_COLUMNS.map((column) => sumOf(`traffic.${column}`).$castTo<number>().as(column)))
      .groupBy(['counted.environment', 'counted.site_type'])
      .execute()
  );
}

/**
 * The last measurements of the installs of a part in a range, by their kinds, with the last day. `isInsight`: of those that left the
 * account, those with traffic in the range.
 */
export function latestOfPart(
  queries: Queries,
  of: UsageScope,
  part: Part,
  { first, last }: DayRange,
  isInsight: boolean,
): Promise<(Kind & StorageSums & { last_day: string })[]> {
  return counted(queries, of, part)
    .crossJoin('usage_storage as storage')
    .whereRef('storage.install_id', '=', 'counted.id')
    .where(hasWithoutIndex('storage.account_id', of.accountId))
    .where('storage.day', '=', (eb) =>
      eb
        .selectFrom('usage_storage as newest')
        .select((of) => of.fn.max('newest.day').as('day'))
        .whereRef('newest.install_id', '=', 'counted.id')
        .where(hasWithoutIndex('newest.account_id', of.accountId))
        .where('newest.day', '>=', first)
        .where('newest.day', '<=', last),
    )
    .$if(isInsight && !part.isPresent, (query) =>
      query.where(({ exists, selectFrom }) =>
        exists(
          selectFrom('usage_traffic as traffic')
            .select('traffic.install_id')
            .whereRef('traffic.install_id', '=', 'counted.id')
            .where(hasWithoutIndex('traffic.account_id', of.accountId))
            .where('traffic.day', '>=', first)
            .where('traffic.day', '<=', last),
        ),
      ),
    )
    .select(['counted.environment', 'counted.site_type'])
    .select((eb) => eb.fn.max('storage.day').as('last_day'))
    .select(STORAGE_COLUMNS.map((column) => sumOf(`storage.${column}`).as(column)))
    .groupBy(['counted.environment', 'counted.site_type'])
    .execute();
}

/** The averages of the storage of each install of a part over the days of a range, added up. */
export function averagesOfPart(
  queries: Queries,
  of: UsageScope,
  part: Part,
  { first, last }: DayRange,
): Promise<StorageSums> {
  return queries
    .selectFrom(
      counted(queries, of, part)
        .crossJoin('usage_storage as storage')
        .whereRef('storage.install_id', '=', 'counted.id')
        .where(hasWithoutIndex('storage.account_id', of.accountId))
        .where('storage.day', '>=', first)
        .where('storage.day', '<=', last)
        .select(
          STORAGE_COLUMNS.map((column) =>
            sql<number | null>`avg(cast(${sql.ref(`storage.${column}`)} as double precision))`.as(column),
          ),
        )
        .groupBy('storage.install_id')
        .as('averages'),
    )
    .select(STORAGE_COLUMNS.map((column) => sumOf(`averages.${column}`).as(column)))
    .executeTakeFirstOrThrow();
}
