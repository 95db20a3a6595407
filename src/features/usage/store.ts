import { type Expression, type ExpressionBuilder, sql } from 'kysely';
import { inScope, type Scope } from '../../access/memberships.ts';
import type { Queries } from '../../database/database.ts';
import type { Tables } from '../../database/tables.ts';
import { hasWithoutIndex } from '../../database/without-index.ts';
import type { DayRange } from './days.ts';

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

/** Traffic by install and day, in the order of the days. */
export async function trafficDays(
  queries: Queries,
  rows: Rows,
  { first, last }: DayRange,
): Promise<TrafficDay[]> {
  if ('installIds' in rows && rows.installIds.length === 0) return [];
  return queries
    .selectFrom('usage_traffic')
    .select(['install_id', 'day', sum('requests').as('requests'), sum('bytes').as('bytes')])
    .select(sum('visits').as('visits'))
    .select([sumOfPages('page_requests'), sumOfPages('page_hits'), sumOfPages('page_ms')])
    .where(selected(rows))
    .where('day', '>=', first)
    .where('day', '<=', last)
    .groupBy(['install_id', 'day'])
    .orderBy('day')
    .execute();
}

/** Storage by install and day, in the order of the days. */
export async function storageDays(
  queries: Queries,
  rows: Rows,
  { first, last }: DayRange,
): Promise<StorageDay[]> {
  if ('installIds' in rows && rows.installIds.length === 0) return [];
  return queries
    .selectFrom('usage_storage')
    .select(STORAGE_COLUMNS)
    .where(selected(rows))
    .where('day', '>=', first)
    .where('day', '<=', last)
    .orderBy('day')
    .execute();
}

/** A condition for the rows. The index of accounts has all days of an account, so it is left aside. */
const selected = (rows: Rows) => (eb: ExpressionBuilder<Tables, 'usage_traffic' | 'usage_storage'>) =>
  'installId' in rows
    ? eb('install_id', '=', rows.installId)
    : eb.and([eb('install_id', 'in', rows.installIds), hasWithoutIndex('account_id', rows.accountId)]);

/** The ids of the installs of a usage scope, for queries. */
function idsOf(queries: Queries, { accountId, scope }: UsageScope): Expression<string> {
  return queries
    .selectFrom('installs as install')
    .select('install.id')
    .where('install.account_id', '=', accountId)
    .where((eb) => inScope(eb, scope))
    .$asScalar();
}

/** Traffic of all installs together by day, in the order of the days. Whole accounts store it. */
export function trafficOfAccount(queries: Queries, of: UsageScope, { first, last }: DayRange) {
  const sums = ['day', sum('requests').as('requests'), sum('bytes').as('bytes')] as const;
  if (of.isWhole) {
    return queries
      .selectFrom('usage_account_days')
      .select(sums)
      .select(sum('visits').as('visits'))
      .where('account_id', '=', of.accountId)
      .where('day', '>=', first)
      .where('day', '<=', last)
      .groupBy('day')
      .orderBy('day')
      .execute();
  }
  return queries
    .selectFrom('usage_traffic')
    .select(sums)
    .select(sum('visits').as('visits'))
    .where('account_id', '=', of.accountId)
    .where('day', '>=', first)
    .where('day', '<=', last)
    .where('install_id', 'in', idsOf(queries, of))
    .groupBy('day')
    .orderBy('day')
    .execute();
}

/** When the storage of an account's installs was last measured; null if never. */
export async function lastMeasurement(queries: Queries, accountId: string): Promise<string | null> {
  const row = await queries
    .selectFrom('usage_measurements')
    .select('measured_at')
    .where('account_id', '=', accountId)
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
