import { sql } from 'kysely';
import type { Queries } from '../../database/database.ts';
import { storedLabels } from './labels.ts';

/** An install with its host, and what it requires of one. */
export async function findPlacement(queries: Queries, installId: string) {
  const row = await installsWithLabels(queries).where('install.id', '=', installId).executeTakeFirst();
  return row && { ...row, labels: storedLabels(row.labels) };
}

function installsWithLabels(queries: Queries) {
  return queries
    .selectFrom('installs as install')
    .innerJoin('accounts as account', 'account.id', 'install.account_id')
    .select(['install.id', 'install.name', 'install.host_id', 'install.account_id', 'install.environment'])
    .select(['install.php_version as phpVersion', 'install.wordpress_version as wordpressVersion'])
    .select('account.host_labels as labels');
}

/** How many production installs of an account each host has. */
export async function productionCounts(queries: Queries, accountId: string): Promise<Map<string, number>> {
  const rows = await queries
    .selectFrom('installs')
    .select((eb) => ['host_id', eb.fn.countAll<number>().as('count')])
    .where('account_id', '=', accountId)
    .where('environment', '=', 'production')
    .where('host_id', 'is not', null)
    .groupBy('host_id')
    .execute();
  return new Map(rows.flatMap(({ host_id, count }) => (host_id === null ? [] : [[host_id, count]])));
}

/** Assigns an install to a host; false if it has been deleted. */
export async function setHost(queries: Queries, installId: string, hostId: string): Promise<boolean> {
  const placed = await queries
    .updateTable('installs')
    .set({ host_id: hostId })
    .where('id', '=', installId)
    .returning('id')
    .executeTakeFirst();
  return placed !== undefined;
}

/** What an account has on a host. */
export interface AccountOnHost {
  hostId: string;
  accountId: string;
  /** The labels that the account wants. */
  labels: string[];
  installs: number;
  production: number;
}

/** What each account has on each host, without installs that failed. */
export async function accountsOnHosts(queries: Queries): Promise<AccountOnHost[]> {
  const rows = await queries
    .selectFrom('installs as install')
    .innerJoin('accounts as account', 'account.id', 'install.account_id')
    .select(['install.host_id as hostId', 'install.account_id as accountId', 'account.host_labels as labels'])
    .select((eb) => [
      eb.fn.countAll<number>().as('installs'),
      eb.fn
        .count<number>(eb.case().when('install.environment', '=', 'production').then(1).end())
        .as('production'),
    ])
    .where('install.status', '=', 'active')
    .where('install.host_id', 'is not', null)
    .groupBy(['install.host_id', 'install.account_id', 'account.host_labels'])
    .execute();
  return rows.flatMap(({ hostId, labels, ...counts }) =>
    hostId === null ? [] : [{ ...counts, hostId, labels: storedLabels(labels) }],
  );
}

/** An install that could move to another host. */
export interface MovableInstall {
  id: string;
  name: string;
  accountId: string;
  isProduction: boolean;
  phpVersion: string | null;
  wordpressVersion: string | null;
  labels: string[];
  /** Of its files and its database, as last measured; null if never. */
  bytes: number | null;
}

export interface MovableSelection {
  hostId: string;
  accountId?: string;
  onlyProduction?: boolean;
  /** Default: the smallest first. */
  largestFirst?: boolean;
  limit: number;
}

/** The first active installs of a host, by their storage. */
export async function movableInstalls(
  queries: Queries,
  { hostId, accountId, onlyProduction = false, largestFirst = false, limit }: MovableSelection,
): Promise<MovableInstall[]> {
  const rows = await installsWithLabels(queries)
    .select((eb) =>
      eb
        .selectFrom('usage_storage')
        .select((each) =>
          sql<number>`${each.ref('file_bytes')} + coalesce(${each.ref('database_bytes')}, 0)`.as('bytes'),
        )
        .whereRef('usage_storage.install_id', '=', 'install.id')
        .orderBy('day', 'desc')
        .limit(1)
        .as('bytes'),
    )
    .where('install.host_id', '=', hostId)
    .where('install.status', '=', 'active')
    .$if(accountId !== undefined, (query) => query.where('install.account_id', '=', accountId ?? ''))
    .$if(onlyProduction, (query) => query.where('install.environment', '=', 'production'))
    .orderBy('bytes', (order) => (largestFirst ? order.desc() : order.asc()).nullsLast())
    .orderBy('install.seq')
    .limit(limit)
    .execute();
  return rows.map(({ labels, environment, account_id: accountId, host_id: _host, ...install }) => ({
    ...install,
    accountId,
    isProduction: environment === 'production',
    labels: storedLabels(labels),
  }));
}

/** The labels that an account wants of the hosts of its installs. */
export async function labelsOfAccount(queries: Queries, accountId: string): Promise<string[]> {
  const row = await queries
    .selectFrom('accounts')
    .select('host_labels')
    .where('id', '=', accountId)
    .executeTakeFirst();
  return storedLabels(row?.host_labels ?? []);
}

export async function setLabelsOfAccount(
  queries: Queries,
  accountId: string,
  labels: readonly string[],
): Promise<void> {
  await queries
    .updateTable('accounts')
    .set({ host_labels: JSON.stringify(labels) })
    .where('id', '=', accountId)
    .execute();
}
