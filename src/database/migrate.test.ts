import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { databasePlace, openTestDatabase, silent } from '../../test/database.ts';
import { KNOWN_MIGRATIONS, migrate, pendingMigrations } from './migrate.ts';
import { openDatabase } from './open.ts';

it('leaves the database as it was if a migration fails', async () => {
  const database = await openTestDatabase();
  const { reader } = database;
  const last = KNOWN_MIGRATIONS.slice(KNOWN_MIGRATIONS.indexOf('0061-doubtful-installs'));
  const indexes = async () => {
    const { rows } = await sql<{ name: string }>`select name from sqlite_schema where type = 'index'`.execute(
      reader,
    );
    return rows.map(({ name }) => name).sort();
  };
  try {
    // Its first index can be created again, and a later one not.
    await sql`delete from kysely_migration where name in (${sql.join(last)})`.execute(reader);
    await sql`drop index backups_aborted`.execute(reader);
    const before = await indexes();
    const cause = { message: expect.stringContaining('already exists') };
    const begun: string[] = [];
    await expect(migrate(database, undefined, (name) => begun.push(name))).rejects.toMatchObject({
      message: 'The database migration failed.',
      cause,
    });
    expect(begun).toEqual(last.slice(0, 1));
    expect(await indexes()).toEqual(before);
    expect(await pendingMigrations(database)).toEqual(last);
    // And the writer is free.
    await database.write(({ queries }) => queries.deleteFrom('jobs').execute());
  } finally {
    await database.remove();
  }
});

it('is done by one of several processes', async () => {
  const place = await databasePlace();
  const databases = [openDatabase(place.settings, silent), openDatabase(place.settings, silent)];
  try {
    const begun: string[] = [];
    const outcomes = await Promise.all(
      databases.map((database) => migrate(database, undefined, (name) => begun.push(name))),
    );
    // It has no rows that would take time.
    expect(begun).toEqual([]);
    expect(outcomes.map(({ applied }) => applied.length).sort()).toEqual([0, KNOWN_MIGRATIONS.length]);
  } finally {
    for (const database of databases) await database.close();
    await place.remove();
  }
});
