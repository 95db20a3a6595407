import { sql } from 'kysely';
import pg from 'pg';
import { expect, it } from 'vitest';
import { databasePlace, silent } from '../../test/database.ts';
import { OperatorError } from '../lib/operator-error.ts';
import { KNOWN_MIGRATIONS, migrate, pendingMigrations } from './migrate.ts';
import { openPostgres } from './postgres.ts';

it('a migration may take longer than other statements', async () => {
  const place = await databasePlace();
  const url = place.settings.databaseUrl ?? '';
  const database = openPostgres(url, silent, {
    timeouts: { connectMs: 15_000, statementMs: 1_000, replyMs: 1_200 },
  });
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
  const place = await databasePlace();
  const url = place.settings.databaseUrl ?? '';
  const database = openPostgres(url, silent);
  const other = new pg.Client(url);
  // A migration that changes a table in use.
  const used = [
    'create table used (id integer)',
    `create function change_used() returns event_trigger language plpgsql as $$ begin
      if to_regclass('backups_aborted') is not null then lock table used in access exclusive mode; end if; end $$`,
    "create event trigger change_used on ddl_command_start when tag in ('DROP FUNCTION') execute function change_used()",
  ];
  const waits = async () => {
    const { rows } =
      await sql`select 1 from pg_locks where not granted and relation = 'used'::regclass`.execute(
        database.reader,
      );
    return rows.length;
  };
  try {
    await other.connect();
    for (const statement of used) await other.query(statement);
    await other.query('begin; lock table used in row exclusive mode');
    const error: unknown = await migrate(database, {
      ...{ lockMs: 20, patienceMs: 0, retryMs: { sqlite: 0, postgres: 0 }, leaveMs: 0 },
    }).catch((failure: unknown) => failure);
    expect(error).toBeInstanceOf(OperatorError);
    expect(error).toMatchObject({ message: expect.stringContaining('keeps a table locked') });
    expect(await pendingMigrations(database)).toEqual(KNOWN_MIGRATIONS);

    const migrated = migrate(database, {
      ...{ lockMs: 300, patienceMs: 300_000, retryMs: { sqlite: 0, postgres: 300 }, leaveMs: 0 },
    });
    await expect.poll(waits).toBe(1);
    await expect.poll(waits).toBe(0);
    await database.write(({ queries }) => sql`insert into used values (1)`.execute(queries));
    await other.query('commit');
    expect((await migrated).applied).toEqual(KNOWN_MIGRATIONS);
  } finally {
    await other.end();
    await database.close();
    await place.remove();
  }
});
