import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { openTestDatabase } from '../../test/database.ts';
import { miscountedAccounts } from '../features/websites/installs/recount-store.ts';
import type { Queries } from './database.ts';
import { listCounts } from './migrations/0059-list-counts.ts';
import { POSTGRES_TYPES, SQLITE_TYPES } from './migrations/column-types.ts';

const at = '2026-01-01T00:00:00.000Z';

/** Removes what the statements of a migration created. */
async function undo(queries: Queries, statements: readonly string[], dialect: string): Promise<void> {
  const named = (pattern: RegExp) => statements.flatMap((one) => pattern.exec(one)?.slice(1) ?? []);
  for (const statement of statements) {
    const [, trigger, table] = /^create trigger (\w+)[^;]* on (\w+) for each row/.exec(statement) ?? [];
    if (trigger === undefined || trigger.startsWith('changes_')) continue;
    await sql.raw(`drop trigger ${trigger}${dialect === 'postgres' ? ` on ${table}` : ''}`).execute(queries);
  }
  for (const name of named(/^create function (\w+)/)) await sql.raw(`drop function ${name}`).execute(queries);
  for (const name of named(/^create index (\w+)/)) await sql.raw(`drop index ${name}`).execute(queries);
  for (const name of named(/^create table (\w+)/)) await sql.raw(`drop table ${name}`).execute(queries);
  // Of a later migration.
  await sql`drop index installs_updates`.execute(queries);
  await sql`alter table installs drop column waiting_updates`.execute(queries);
  for (const column of ['status', 'environment']) {
    await sql
      .raw(`create index installs_account_${column} on installs (account_id, ${column}, seq)`)
      .execute(queries);
  }
}

it('counts what an earlier version stored', async () => {
  const database = await openTestDatabase();
  const ids = (...names: string[]) => names.map(() => crypto.randomUUID());
  const [origin = '', destination = ''] = ids('origin', 'destination');
  const [present = '', waiting = '', moved = '', gone = ''] = ids('present', 'waiting', 'moved', 'gone');
  const statements = listCounts(
    database.dialect === 'sqlite' ? SQLITE_TYPES : POSTGRES_TYPES,
    database.dialect,
  );
  try {
    await database.write(async ({ queries }) => {
      await undo(queries, statements, database.dialect);
      for (const [id, install_count] of [
        [origin, 2],
        [destination, 1],
      ] as const) {
        await queries
          .insertInto('accounts')
          .values({ id, name: 'One', install_count, created_at: at })
          .execute();
      }
      for (const [id, account_id] of [
        [present, origin],
        [waiting, origin],
        [moved, destination],
      ] as const) {
        await queries
          .insertInto('installs')
          .values({
            ...{ id, account_id, site_id: null, environment: null, name: `i${id}`, status: 'active' },
            ...{ php_version: null, stable_ips: null, offload_file_name: 'a', offload_file_content: 'b' },
            created_at: at,
          })
          .execute();
      }
      await queries
        .insertInto('wordpress_readings')
        .values({ install_id: waiting, plugin_updates: 1, theme_updates: 2, core_update: '7', due_at: at })
        .execute();
      for (const [install_id, account_id] of [
        [present, origin],
        [moved, destination],
        [gone, origin],
      ] as const) {
        await queries
          .insertInto('usage_installs')
          .values({ install_id, account_id, host: 'embedded', name: `i${install_id}`, environment: null })
          .execute();
      }
      const traffic = (install_id: string, account_id: string, day: string) => ({
        ...{ install_id, account_id, day, source: 'a', requests: 1, bytes: 1, visits: 1 },
        ...{ page_requests: null, page_hits: null, page_ms: null },
      });
      await queries
        .insertInto('usage_traffic')
        .values([
          traffic(present, origin, '2026-01-01'),
          traffic(moved, origin, '2026-01-01'),
          traffic(moved, destination, '2026-01-02'),
          traffic(gone, origin, '2026-01-01'),
        ])
        .execute();
      const storage = (install_id: string, day: string) => ({
        ...{ install_id, account_id: origin, day, file_bytes: 1, database_bytes: null, data_bytes: null },
        ...{ tables_count: null, autoloaded_bytes: null, measured_at: `${day}T02:29:00.000Z` },
      });
      await queries
        .insertInto('usage_storage')
        .values([storage(present, '2026-01-01'), storage(present, '2026-01-02')])
        .execute();
      const changes = () => queries.selectFrom('changes').select('seq').execute();
      const before = database.dialect === 'sqlite' ? await changes() : [];
      for (const statement of statements) await sql.raw(statement).execute(queries);
      if (database.dialect === 'sqlite') expect(await changes()).toEqual(before);
    });
    const { reader } = database;
    expect(await miscountedAccounts(reader)).toEqual([]);
    expect(
      await reader
        .selectFrom('install_counts')
        .select(['account_id', 'status', 'is_waiting', 'installs'])
        .where('account_id', '=', origin)
        .orderBy('is_waiting')
        .execute(),
    ).toEqual([
      { account_id: origin, status: 'active', is_waiting: false, installs: 1 },
      { account_id: origin, status: 'active', is_waiting: true, installs: 1 },
    ]);
    expect(
      await reader.selectFrom('usage_former_installs').selectAll().orderBy('install_id').execute(),
    ).toEqual([moved, gone].sort().map((install_id) => ({ account_id: origin, install_id })));
    expect(await reader.selectFrom('usage_measurements').selectAll().execute()).toEqual([
      { account_id: origin, measured_at: '2026-01-02T02:29:00.000Z' },
    ]);
  } finally {
    await database.remove();
  }
});
