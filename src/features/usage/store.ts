import { type Expression, sql } from 'kysely';
import { inScope, type Scope } from '../../access/memberships.ts';
import type { Queries } from '../../database/database.ts';
import type { Environment } from '../../database/tables/installs.ts';
import { hasTags } from '../websites/site-tags/tagged-store.ts';
import type { DayRange } from './days.ts';

/** Kinds of sites, for insights. */
export const SITE_TYPES = ['standard', 'transferable', 'sandbox'] as const;
export type SiteType = (typeof SITE_TYPES)[number];

/** An install of an account's usage. */
export interface Counted {
  id: string;
  name: string;
  environment: Environment | null;
  site_type: SiteType;
}

const STANDARD = sql<SiteType>`cast('standard' as text)`.as('site_type');
/** Of the joined `site`; an install without a site is standard. */
const SITE_TYPE =
  sql<SiteType>`cast(case when site.sandbox then 'sandbox' when site.transferable then 'transferable' else 'standard' end as text)`.as(
    'site_type',
  );

/** The owner of the usage: an account, or the installs of it that a scope shows. */
export interface UsageScope {
  accountId: string;
  scope: Scope;
  /** Whether the scope shows the whole account, with its deleted installs. */
  isWhole: boolean;
}

/** Traffic of one install on one day. */
export interface TrafficDay {
  install_id: string;
  day: string;
  requests: number;
  bytes: number;
  visits: number;
  /** Null: not measured. */
  page_requests: number | null;
  page_hits: number | null;
  page_ms: number | null;
}

/** Storage of one install, as measured on one day. */
export interface StorageDay {
  install_id: string;
  day: string;
  file_bytes: number;
  database_bytes: number | null;
  data_bytes: number | null;
  tables_count: number | null;
  autoloaded_bytes: number | null;
  measured_at: string;
}

/** Selects rows of usage. The usage of an install includes days in earlier accounts. */
export type Rows = { installId: string } | { accountId: string; installIds: readonly string[] };

/** SQLite and PostgreSQL overflow with whole numbers. */
const sum = (column: 'requests' | 'bytes' | 'visits') =>
  sql<number>`sum(cast(${sql.ref(column)} as double precision))`;
/** Null without any measurement. */
const sumOfPages = (column: 'page_requests' | 'page_hits' | 'page_ms') =>
  sql<number | null>`sum(cast(${sql.ref(column)} as double precision))`.as(column);

const STORAGE_COLUMNS = [
  'install_id',
  'day',
  'file_bytes',
  'database_bytes',
  'data_bytes',
  'tables_count',
  'autoloaded_bytes',
  'measured_at',
] as const;

/** The installs of an account's usage in a range, by name; deleted ones only if they have traffic in it. */
function countedInstalls(
  queries: Queries,
  { accountId, scope, isWhole }: UsageScope,
  { first, last }: DayRange,
  tags?: string,
) {
  const present = queries
    .selectFrom('installs as install')
    .leftJoin('sites as site', 'site.id', 'install.site_id')
    .select(['install.id', 'install.name', 'install.environment', SITE_TYPE])
    .where('install.account_id', '=', accountId)
    .where((eb) => inScope(eb, scope))
    .$if(tags !== undefined, (query) => query.where(hasTags(sql.ref('site.tag_keys'), tags ?? '')));
  // Deleted installs have no site, and so no tags.
  if (!isWhole || tags !== undefined) return present;
  return present.unionAll(
    queries
      .selectFrom('usage_installs as gone')
      .select(['gone.install_id as id', 'gone.name', 'gone.environment', STANDARD])
      .where('gone.install_id', 'in', (of) =>
        of
          .selectFrom('usage_traffic')
          .select('install_id')
          .where('account_id', '=', accountId)
          .where('day', '>=', first)
          .where('day', '<=', last),
      )
      .where('gone.install_id', 'not in', (of) =>
        of.selectFrom('installs').select('id').where('account_id', '=', accountId),
      ),
  );
}

/** A page of the installs of an account's usage, and their number; with keys of tags, of those whose site has all of them. */
export async function pageOfCounted(
  queries: Queries,
  of: UsageScope,
  range: DayRange,
  page: { limit: number; offset: number },
  tags?: string,
): Promise<{ count: number; installs: Counted[] }> {
  const all = countedInstalls(queries, of, range, tags);
  const [{ count }, installs] = await Promise.all([
    queries
      .selectFrom(all.as('counted'))
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow(),
    queries
      .selectFrom(all.as('counted'))
      .selectAll()
      .orderBy('name')
      .orderBy('id')
      .limit(page.limit)
      .offset(page.offset)
      .execute(),
  ]);
  return { count, installs };
}

/** Every install of an account's usage with the kind of its site. */
export function allCounted(queries: Queries, of: UsageScope, range: DayRange): Promise<Counted[]> {
  return countedInstalls(queries, of, range).execute();
}

/** Traffic by install and day, in the order of the days. */
export async function trafficDays(
  queries: Queries,
  rows: Rows,
  { first, last }: DayRange,
): Promise<TrafficDay[]> {
  if ('installIds' in rows && rows.installIds.length === 0) return [];
  const query = queries
    .selectFrom('usage_traffic')
    .select(['install_id', 'day', sum('requests').as('requests'), sum('bytes').as('bytes')])
    .select(sum('visits').as('visits'))
    .select([sumOfPages('page_requests'), sumOfPages('page_hits'), sumOfPages('page_ms')])
    .where('day', '>=', first)
    .where('day', '<=', last)
    .groupBy(['install_id', 'day'])
    .orderBy('day');
  return (
    'installId' in rows
      ? query.where('install_id', '=', rows.installId)
      : query.where('account_id', '=', rows.accountId).where('install_id', 'in', rows.installIds)
  ).execute();
}

/** Storage by install and day, in the order of the days. */
export async function storageDays(
  queries: Queries,
  rows: Rows,
  { first, last }: DayRange,
): Promise<StorageDay[]> {
  if ('installIds' in rows && rows.installIds.length === 0) return [];
  const query = queries
    .selectFrom('usage_storage')
    .select(STORAGE_COLUMNS)
    .where('day', '>=', first)
    .where('day', '<=', last)
    .orderBy('day');
  return (
    'installId' in rows
      ? query.where('install_id', '=', rows.installId)
      : query.where('account_id', '=', rows.accountId).where('install_id', 'in', rows.installIds)
  ).execute();
}

/** The ids of the installs of a usage scope, for queries. */
function idsOf(queries: Queries, { accountId, scope }: UsageScope): Expression<string> {
  return queries
    .selectFrom('installs as install')
    .select('install.id')
    .where('install.account_id', '=', accountId)
    .where((eb) => inScope(eb, scope))
    .$asScalar();
}

/** Traffic of all installs together by day, in the order of the days. */
export function trafficOfAccount(queries: Queries, of: UsageScope, { first, last }: DayRange) {
  return queries
    .selectFrom('usage_traffic')
    .select(['day', sum('requests').as('requests'), sum('bytes').as('bytes'), sum('visits').as('visits')])
    .where('account_id', '=', of.accountId)
    .where('day', '>=', first)
    .where('day', '<=', last)
    .$if(!of.isWhole, (query) => query.where('install_id', 'in', idsOf(queries, of)))
    .groupBy('day')
    .orderBy('day')
    .execute();
}

/** Traffic of the whole range by install. */
export function trafficByInstall(queries: Queries, of: UsageScope, { first, last }: DayRange) {
  return queries
    .selectFrom('usage_traffic')
    .select(['install_id', sum('requests').as('requests'), sum('bytes').as('bytes')])
    .select(sum('visits').as('visits'))
    .where('account_id', '=', of.accountId)
    .where('day', '>=', first)
    .where('day', '<=', last)
    .$if(!of.isWhole, (query) => query.where('install_id', 'in', idsOf(queries, of)))
    .groupBy('install_id')
    .execute();
}

const mean = (column: 'file_bytes' | 'database_bytes' | 'data_bytes' | 'tables_count' | 'autoloaded_bytes') =>
  sql<number | null>`avg(cast(${sql.ref(column)} as double precision))`.as(column);

/** Average storage of the range by install, and the last day on which it was measured. */
export function averageStorage(queries: Queries, of: UsageScope, { first, last }: DayRange) {
  return queries
    .selectFrom('usage_storage')
    .select(['install_id', mean('file_bytes'), mean('database_bytes'), mean('data_bytes')])
    .select([mean('tables_count'), mean('autoloaded_bytes')])
    .where('account_id', '=', of.accountId)
    .where('day', '>=', first)
    .where('day', '<=', last)
    .$if(!of.isWhole, (query) => query.where('install_id', 'in', idsOf(queries, of)))
    .groupBy('install_id')
    .execute();
}

/** The last measurement of each install in the range. */
export function latestStorage(
  queries: Queries,
  of: UsageScope,
  { first, last }: DayRange,
): Promise<StorageDay[]> {
  return queries
    .selectFrom('usage_storage as storage')
    .innerJoin(
      (eb) =>
        eb
          .selectFrom('usage_storage')
          .select(['install_id as measured_install', (inner) => inner.fn.max('day').as('last_day')])
          .where('account_id', '=', of.accountId)
          .where('day', '>=', first)
          .where('day', '<=', last)
          .$if(!of.isWhole, (query) => query.where('install_id', 'in', idsOf(queries, of)))
          .groupBy('install_id')
          .as('newest'),
      (join) =>
        join
          .onRef('newest.measured_install', '=', 'storage.install_id')
          .onRef('newest.last_day', '=', 'storage.day'),
    )
    .select(STORAGE_COLUMNS)
    .execute();
}

/** When the storage of an account's installs was last measured; null if never. */
export async function lastMeasurement(queries: Queries, accountId: string): Promise<string | null> {
  const row = await queries
    .selectFrom('usage_storage')
    .select('measured_at')
    .where('account_id', '=', accountId)
    .orderBy('day', 'desc')
    .orderBy('measured_at', 'desc')
    .executeTakeFirst();
  return row?.measured_at ?? null;
}

/** The ids of the installs of an account that a scope shows. */
export async function installIdsOf(queries: Queries, of: UsageScope): Promise<string[]> {
  const rows = await queries
    .selectFrom('installs as install')
    .select('install.id')
    .where('install.account_id', '=', of.accountId)
    .where((eb) => inScope(eb, of.scope))
    .execute();
  return rows.map(({ id }) => id);
}

/** When the oldest unfinished refresh of a lane was requested; null if there is none. */
export async function refreshRequestedAt(queries: Queries, lane: string): Promise<string | null> {
  const row = await queries
    .selectFrom('jobs')
    .select('created_at')
    .where('lane', '=', lane)
    .where('state', 'in', ['queued', 'running'])
    .orderBy('seq')
    .limit(1)
    .executeTakeFirst();
  return row?.created_at ?? null;
}
