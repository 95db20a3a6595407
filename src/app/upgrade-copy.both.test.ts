import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { sql } from 'kysely';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type DatabasePlace, migratedPlace, silent } from '../../test/database.ts';
import { readConfig } from '../config/config.ts';
import { migrate, schemaOfNewerProgram } from '../database/migrate.ts';
import { openDatabase } from '../database/open.ts';
import { OperatorError } from '../lib/operator-error.ts';
import { openCurrentDatabase } from './open-platform.ts';
import { copyBeforeMigration, noteServed, OWN_SCHEMA, returnDatabase, upgradeFiles } from './upgrade-copy.ts';

let place: DatabasePlace;
beforeEach(async () => {
  place = await migratedPlace();
  mkdirSync(upgradeFiles(place.settings).folder);
});
afterEach(() => place.remove());

async function withDatabase<Result>(
  work: (database: ReturnType<typeof openDatabase>) => Promise<Result>,
): Promise<Result> {
  const database = openDatabase(place.settings, silent);
  return work(database).finally(() => database.close());
}

const store = (key: string) =>
  withDatabase((database) =>
    database.write(({ queries }) => sql`update program_version set version = ${key}`.execute(queries)),
  );
const stored = () =>
  withDatabase((database) =>
    database.reader.selectFrom('program_version').select('version').executeTakeFirstOrThrow(),
  );
const isNewer = () => withDatabase(async (database) => (await schemaOfNewerProgram(database)) !== null);

/** Migrates as a newer version does when it starts. */
async function migrateToLater(): Promise<void> {
  await copyBeforeMigration(place.settings, silent);
  await withDatabase((database) =>
    database.write(async ({ queries }) => {
      await sql`create table later (one integer)`.execute(queries);
      await sql`insert into kysely_migration (name, timestamp) values ('9999-later', '2027-01-01')`.execute(
        queries,
      );
    }),
  );
}

it('returns the database as it was after the last write of the former version, and keeps the newer one', async () => {
  const files = upgradeFiles(place.settings);
  writeFileSync(files.wanted, '');
  await store('last write');
  await migrateToLater();
  await store('of the newer version');
  await noteServed(place.settings, silent);
  writeFileSync(files.returnTo, `${OWN_SCHEMA}\n`);
  await returnDatabase(place.settings, silent);
  expect(await stored()).toEqual({ version: 'last write' });
  expect(await isNewer()).toBe(false);
  expect(existsSync(files.returnTo)).toBe(false);
  if (place.settings.databaseUrl === null)
    expect(readFileSync(files.newer).includes('of the newer version')).toBe(true);
  // This version serves before its package is installed. A note would say that the newer one did.
  await noteServed(place.settings, silent);
  expect(existsSync(files.served)).toBe(false);
  // A kill before the last step leaves the request.
  writeFileSync(files.returnTo, OWN_SCHEMA);
  await store('after the return');
  await returnDatabase(place.settings, silent);
  expect(await stored()).toEqual({ version: 'after the return' });
});

it('goes on with a return that was interrupted', async () => {
  const files = upgradeFiles(place.settings);
  writeFileSync(files.wanted, '');
  await store('last write');
  await migrateToLater();
  writeFileSync(files.returnTo, OWN_SCHEMA);
  // On SQLite the database is replaced in one step. On PostgreSQL pg_restore may fail, or be killed.
  if (place.settings.databaseUrl !== null)
    await withDatabase((database) =>
      database.write(({ queries }) => sql`drop schema public cascade`.execute(queries)),
    );
  await returnDatabase(place.settings, silent);
  expect(await stored()).toEqual({ version: 'last write' });
});

it('notes that a server was ready since the copy, until the next copy', async () => {
  const files = upgradeFiles(place.settings);
  await noteServed(place.settings, silent);
  expect(existsSync(files.served)).toBe(false);
  writeFileSync(files.wanted, '');
  await copyBeforeMigration(place.settings, silent);
  await noteServed(place.settings, silent);
  expect(existsSync(files.served)).toBe(true);
  await copyBeforeMigration(place.settings, silent);
  expect(existsSync(files.served)).toBe(false);
});

it('makes no copy unless an upgrade wants one', async () => {
  await migrateToLater();
  expect(existsSync(upgradeFiles(place.settings).copy)).toBe(false);
});

it('refuses to run the newer version during a return, and changes nothing', async () => {
  const files = upgradeFiles(place.settings);
  writeFileSync(files.returnTo, '0001-former');
  const error: unknown = await returnDatabase(place.settings, silent).catch((failure: unknown) => failure);
  expect(error).toBeInstanceOf(OperatorError);
  expect(error).toMatchObject({ message: expect.stringContaining('returns to the former one') });
  expect(readFileSync(files.returnTo, 'utf8')).toBe('0001-former');
});

it('leaves the database to the server during an upgrade', async () => {
  const config = { ...readConfig({}), ...place.settings };
  const files = upgradeFiles(config);
  const open = async (isCommand: boolean) =>
    (await openCurrentDatabase(config, silent, { isCommand })).database.close();
  writeFileSync(files.wanted, '');
  await open(true);
  await withDatabase((database) =>
    database.write(({ queries }) =>
      sql`delete from kysely_migration where name = ${OWN_SCHEMA}`.execute(queries),
    ),
  );
  await expect(open(true)).rejects.toThrow('An upgrade is under way');
  expect(existsSync(files.copy)).toBe(false);
  writeFileSync(files.returnTo, OWN_SCHEMA);
  await expect(open(true)).rejects.toThrow('An upgrade is under way');
  expect(existsSync(files.returnTo)).toBe(true);
});

it('migrates nothing if the copy fails, and only then', async () => {
  const noCopy = async () => {
    throw new Error('the disk is full');
  };
  await withDatabase(async (database) => {
    expect((await migrate(database, undefined, undefined, noCopy)).applied).toEqual([]);
    await database.write(({ queries }) =>
      sql`delete from kysely_migration where name = ${OWN_SCHEMA}`.execute(queries),
    );
    await expect(migrate(database, undefined, undefined, noCopy)).rejects.toThrow('the disk is full');
    const { rows } = await sql`select name from kysely_migration where name = ${OWN_SCHEMA}`.execute(
      database.reader,
    );
    expect(rows).toEqual([]);
  });
});
