import { sql } from 'kysely';
import pg from 'pg';
import { expect, it } from 'vitest';
import { databasePlace, openTestDatabase, silent } from '../../test/database.ts';
import { OperatorError } from '../lib/operator-error.ts';
import { KNOWN_MIGRATIONS, migrate, pendingMigrations } from './migrate.ts';
import { openPostgres } from './postgres.ts';

it('a migration may take longer than other statements', async () => {
  const place = await databasePlace();
  const url = place.settings.databaseUrl ?? '';
  const database = openPostgres(url, silent, { connectMs: 15_000, statementMs: 1_000, replyMs: 1_200 });
  try {
    // Sleeps in one statement of the last migrations.
    const slow = [
      `create function slow() returns event_trigger language plpgsql as $$ begin
        if to_regclass('backups_aborted') is not null then perform pg_sleep(1.4); end if; end $$`,
      "create event trigger slow on ddl_command_start when tag in ('DROP FUNCTION') execute function slow()",
    ];
    for (const statement of slow) await sql.raw(statement).execute(database.reader);
    expect((await migrate(database)).applied).toEqual(KNOWN_MIGRATIONS);
  } finally {
    await database.close();
    await place.remove();
  }
});

it('waits for locks in short turns, between which others use the table, and says so if it gets none', async () => {
  const database = await openTestDatabase();
  const other = new pg.Client(database.place.settings.databaseUrl ?? '');
  const last = KNOWN_MIGRATIONS.slice(KNOWN_MIGRATIONS.indexOf('0061-doubtful-installs'));
  const undone = [
    `delete from kysely_migration where name in ('${last.join("', '")}')`,
    'alter table jobs drop column traceparent',
    'drop table release_check',
    'drop index installs_without_site',
    'drop index certificates_warned',
    'drop index backups_aborted',
    'drop index install_quotas_reached',
    'drop index installs_failed',
    'alter table domain_looks drop column was_checked',
  ];
  const waits = async () => {
    const { rows } =
      await sql`select 1 from pg_locks where not granted and relation = 'backups'::regclass`.execute(
        database.reader,
      );
    return rows.length;
  };
  try {
    await other.connect();
    for (const statement of undone) await other.query(statement);
    await other.query('begin; lock table backups in row exclusive mode');
    const error: unknown = await migrate(database, {
      ...{ lockMs: 20, patienceMs: 0, retryMs: { sqlite: 0, postgres: 0 } },
    }).catch((failure: unknown) => failure);
    expect(error).toBeInstanceOf(OperatorError);
    expect(error).toMatchObject({ message: expect.stringContaining('keeps a table locked') });
    expect(await pendingMigrations(database)).toEqual(last);

    const migrated = migrate(database, {
      ...{ lockMs: 300, patienceMs: 300_000, retryMs: { sqlite: 0, postgres: 300 } },
    });
    await expect.poll(waits).toBe(1);
    await expect.poll(waits).toBe(0);
    await database.write(({ queries }) => queries.deleteFrom('backups').execute());
    await other.query('commit');
    expect((await migrated).applied).toEqual(last);
  } finally {
    await other.end();
    await database.remove();
  }
});
