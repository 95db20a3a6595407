import { sql } from 'kysely';
import type { Queries } from '../../database/database.ts';
import { type InstallRange, installRanges } from '../../database/install-ranges.ts';
import { hasWithoutIndex } from '../../database/without-index.ts';
import type { MeasuredStorage, UsageCursor, UsagePage } from '../../hosting/contract/usage.ts';
import { EMBEDDED } from '../provisioning/orphan-store.ts';
import { storeInstallQuotas } from './install-quotas-store.ts';

/** Above this part of a limit, websites are measured each hour instead of each day. */
const MEASURED_HOURLY_FROM = 0.5;

/** How far the ledger of a host has been read; null if not at all. */
export async function findCursor(queries: Queries, host: string): Promise<UsageCursor | null> {
  const row = await queries
    .selectFrom('usage_cursors')
    .select(['ledger', 'revision'])
    .where('host', '=', host)
    .executeTakeFirst();
  return row ?? null;
}

/**
 * Stores a page of a host's ledger and how far it goes. Returns the number of days that belong to no install of that host, which are
 * left out: a host reports nothing about the installs of others.
 */
export async function storePage(
  queries: Queries,
  host: string,
  { ledger, revision, days }: UsagePage,
  now: string,
): Promise<number> {
  const accounts = await accountsOf(queries, host, [...new Set(days.map(({ installId }) => installId))]);
  const source = `${host}/${ledger}`;
  const rows = days.flatMap(({ installId, day, requests, bytes, visits, pages }) => {
    const account_id = accounts.get(installId);
    if (account_id === undefined) return [];
    const counts = {
      page_requests: pages?.requests ?? null,
      page_hits: pages?.hits ?? null,
      page_ms: pages?.milliseconds ?? null,
    };
    return [{ install_id: installId, day, source, account_id, requests, bytes, visits, ...counts }];
  });
  if (rows.length > 0) {
    await queries
      .insertInto('usage_traffic')
      .values(rows)
      .onConflict((conflict) =>
        conflict
          .columns(['install_id', 'day', 'source'])
          .doUpdateSet((eb) => ({
            account_id: eb.ref('excluded.account_id'),
            requests: eb.ref('excluded.requests'),
            bytes: eb.ref('excluded.bytes'),
            visits: eb.ref('excluded.visits'),
            page_requests: eb.ref('excluded.page_requests'),
            page_hits: eb.ref('excluded.page_hits'),
            page_ms: eb.ref('excluded.page_ms'),
          }))
          // Totals only grow. A collector that lost its lease may come late.
          .whereRef('usage_traffic.requests', '<=', 'excluded.requests'),
      )
      .execute();
  }
  await queries
    .insertInto('usage_cursors')
    .values({ host, ledger, revision, collected_at: now })
    .onConflict((conflict) => conflict.column('host').doUpdateSet({ ledger, revision, collected_at: now }))
    .execute();
  return days.length - rows.length;
}

/** The accounts of a host's installs, by install. Deleted installs keep the account that they had. */
async function accountsOf(
  queries: Queries,
  host: string,
  installIds: readonly string[],
): Promise<Map<string, string>> {
  if (installIds.length === 0) return new Map();
  const present = await queries
    .selectFrom('installs')
    .select(['id', 'account_id', 'name', 'environment'])
    .where('id', 'in', installIds)
    .$if(host !== EMBEDDED, (query) => query.where('host_id', '=', host))
    .execute();
  for (const { id, account_id, name, environment } of present) {
    await noteInstall(queries, { install_id: id, account_id, host, name, environment });
  }
  const known = await queries
    .selectFrom('usage_installs')
    .select(['install_id', 'account_id'])
    .where('install_id', 'in', installIds)
    .where('host', '=', host)
    .execute();
  return new Map(known.map(({ install_id, account_id }) => [install_id, account_id]));
}

async function noteInstall(
  queries: Queries,
  install: {
    install_id: string;
    account_id: string;
    host: string;
    name: string;
    environment: 'production' | 'staging' | 'development' | null;
  },
): Promise<void> {
  const { install_id: _id, ...changing } = install;
  await queries
    .insertInto('usage_installs')
    .values(install)
    .onConflict((conflict) => conflict.column('install_id').doUpdateSet(changing))
    .execute();
}

/**
 * Active installs on a host, or on the embedded host, that have not been measured since `since`; with `nearlyFull`, those of them that
 * have used much of a limit. In ranges of all installs, because most have been measured when a job begins again.
 */
export async function* installsToMeasure(
  queries: Queries,
  hostId: string | null,
  which: { since: string; nearlyFull: boolean },
): AsyncGenerator<{ id: string; name: string }> {
  for await (const range of installRanges(queries)) yield* await toMeasureIn(queries, hostId, which, range);
}

function toMeasureIn(
  queries: Queries,
  hostId: string | null,
  { since, nearlyFull }: { since: string; nearlyFull: boolean },
  { after, to }: InstallRange,
): Promise<{ id: string; name: string }[]> {
  return queries
    .selectFrom('installs as install')
    .select(['install.id', 'install.name'])
    .where('install.seq', '>', after)
    .where('install.seq', '<=', to)
    .where('install.status', '=', 'active')
    .$if(hostId !== null, (query) => query.where(hasWithoutIndex('install.host_id', hostId)))
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('usage_storage as measured')
            .select('measured.install_id')
            .whereRef('measured.install_id', '=', 'install.id')
            .where('measured.measured_at', '>=', since),
        ),
      ),
    )
    .$if(nearlyFull, (query) =>
      query.where(({ exists, selectFrom }) =>
        exists(
          selectFrom('install_quotas as reached')
            .select('reached.install_id')
            .whereRef('reached.install_id', '=', 'install.id')
            .where('reached.used', '>=', (eb) => eb('reached.allowed', '*', sql.lit(MEASURED_HOURLY_FROM))),
        ),
      ),
    )
    .orderBy('install.seq')
    .execute();
}

/** Stores a measurement as that of its day. Does nothing if the install has been deleted. */
export async function storeMeasurement(
  queries: Queries,
  installId: string,
  measured: MeasuredStorage,
  now: string,
): Promise<void> {
  const install = await queries
    .selectFrom('installs')
    .select(['account_id', 'host_id', 'name', 'environment'])
    .where('id', '=', installId)
    .executeTakeFirst();
  if (install === undefined) return;
  const { account_id, host_id, name, environment } = install;
  await noteInstall(queries, {
    install_id: installId,
    account_id,
    host: host_id ?? EMBEDDED,
    name,
    environment,
  });
  const { fileBytes, database } = measured;
  const figures = {
    account_id,
    file_bytes: fileBytes,
    database_bytes: database?.bytes ?? null,
    data_bytes: database?.dataBytes ?? null,
    tables_count: database?.tables ?? null,
    autoloaded_bytes: database?.autoloadedBytes ?? null,
    measured_at: now,
  };
  await queries
    .insertInto('usage_storage')
    .values({ install_id: installId, day: now.slice(0, 10), ...figures })
    .onConflict((conflict) => conflict.columns(['install_id', 'day']).doUpdateSet(figures))
    .execute();
  await storeInstallQuotas(queries, installId, measured, now);
}

/** Deletes up to `limit` days before `day`, and deleted installs that have none left. Returns the number of days. */
export async function deleteUsageBefore(queries: Queries, day: string, limit: number): Promise<number> {
  const traffic = await queries
    .deleteFrom('usage_traffic')
    .where(({ refTuple, selectFrom, eb }) =>
      eb(
        refTuple('install_id', 'day', 'source'),
        'in',
        selectFrom('usage_traffic')
          .select(['install_id', 'day', 'source'])
          .where('day', '<', day)
          .orderBy('day')
          .limit(limit)
          .$asTuple('install_id', 'day', 'source'),
      ),
    )
    .returning('install_id')
    .execute();
  const storage = await queries
    .deleteFrom('usage_storage')
    .where(({ refTuple, selectFrom, eb }) =>
      eb(
        refTuple('install_id', 'day'),
        'in',
        selectFrom('usage_storage')
          .select(['install_id', 'day'])
          .where('day', '<', day)
          .orderBy('day')
          .limit(limit - traffic.length)
          .$asTuple('install_id', 'day'),
      ),
    )
    .returning('install_id')
    .execute();
  const ids = [...new Set([...traffic, ...storage].map(({ install_id }) => install_id))];
  if (ids.length === 0) return 0;
  await queries
    .deleteFrom('usage_installs')
    .where('install_id', 'in', ids)
    .where(({ and, not, exists, selectFrom }) =>
      and([
        not(
          exists(
            selectFrom('installs as present')
              .select('present.id')
              .whereRef('present.id', '=', 'usage_installs.install_id'),
          ),
        ),
        not(
          exists(
            selectFrom('usage_traffic as counted')
              .select('counted.install_id')
              .whereRef('counted.install_id', '=', 'usage_installs.install_id'),
          ),
        ),
        not(
          exists(
            selectFrom('usage_storage as stored')
              .select('stored.install_id')
              .whereRef('stored.install_id', '=', 'usage_installs.install_id'),
          ),
        ),
      ]),
    )
    .execute();
  return traffic.length + storage.length;
}

/** Deletes what accounts keep of days before `day`: warnings of earlier months, and the time of a measurement that has no day left. */
export async function deleteAccountUsageBefore(queries: Queries, day: string): Promise<void> {
  await queries.deleteFrom('limit_warnings').where('month', '<', day.slice(0, 7)).execute();
  await queries.deleteFrom('usage_measurements').where('measured_at', '<', `${day}T00:00:00.000Z`).execute();
}
