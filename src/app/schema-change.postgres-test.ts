import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { sql } from 'kysely';
import pg from 'pg';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type DatabasePlace, migratedPlace, silent, temporaryFolder } from '../../test/database.ts';
import { readConfig } from '../config/config.ts';
import type { Database } from '../database/database.ts';
import { migrate } from '../database/migrate.ts';
import { openDatabase } from '../database/open.ts';
import { untilOtherProgram } from '../database/other-program.ts';
import { beginSchemaChange, isSchemaChanging } from '../database/schema-change.ts';
import { openCurrentDatabase } from './open-platform.ts';
import { copyBeforeMigration, OWN_SCHEMA, returnDatabase, upgradeFiles } from './upgrade-copy.ts';

let place: DatabasePlace;
let database: Database;
let temporary: { path: string; remove(): void };
beforeEach(async () => {
  place = await migratedPlace();
  temporary = temporaryFolder();
  database = openDatabase(place.settings, silent);
});
afterEach(async () => {
  await database.close();
  await place.remove();
  temporary.remove();
});

async function open(isCommand: boolean, announce?: (step: string) => Promise<void>): Promise<void> {
  const config = { ...readConfig({}), ...place.settings };
  const opened = await openCurrentDatabase(config, silent, { isCommand, announce });
  await opened.database.close();
}

it('copies and migrates once the processes of other machines have left', async () => {
  const files = upgradeFiles(place.settings);
  mkdirSync(files.folder);
  writeFileSync(files.wanted, '');
  // The last migration is to be made again, which fails because its tables are there.
  await database.write(({ queries }) =>
    sql`delete from kysely_migration where name = ${OWN_SCHEMA}`.execute(queries),
  );
  const connectionString = place.settings.databaseUrl ?? '';
  const serving = new pg.Client({ connectionString, application_name: 'homeport changes' });
  await serving.connect();
  const migrated = open(false).catch((error: unknown) => error);
  await expect.poll(() => isSchemaChanging(database)).toBe(true);
  const leaving = openDatabase(place.settings, silent);
  const reason = await untilOtherProgram(leaving, new AbortController().signal, 20);
  expect(reason).toContain('This process leaves it meanwhile');
  await leaving.close();
  await expect(open(true)).rejects.toThrow('Another machine brings the database up to date');
  expect(existsSync(files.copy)).toBe(false);
  await serving.end();
  expect(await migrated).toMatchObject({ message: expect.stringContaining('already exists') });
  expect(existsSync(files.copy)).toBe(true);
  // The server ends a session after the client has closed it.
  await expect.poll(() => isSchemaChanging(database)).toBe(false);
});

it('starts no server while another machine changes the schema', async () => {
  const announced: string[] = [];
  let opened: Promise<void> | undefined;
  let isOpen = false;
  await database.withoutTimeLimit(async (queries) => {
    expect(await beginSchemaChange(queries, 0)).toBe(0);
    opened = open(false, async (step) => {
      announced.push(step);
    }).then(() => {
      isOpen = true;
    });
    await expect.poll(() => announced).toContainEqual(expect.stringContaining('Waiting for a machine'));
    expect(isOpen).toBe(false);
  });
  await opened;
});

it('takes no database for a new one that another machine was putting back when it was killed', async () => {
  const files = upgradeFiles(place.settings);
  mkdirSync(files.folder);
  writeFileSync(files.wanted, '');
  await copyBeforeMigration(place.settings, silent);
  await database.write(async ({ queries }) => {
    await sql`insert into kysely_migration (name, timestamp) values ('9999-later', '2027-01-01')`.execute(
      queries,
    );
    await sql`update program_version set version = 'newer'`.execute(queries);
  });
  writeFileSync(files.returnTo, OWN_SCHEMA);
  // pg_restore fails after the tables were dropped, as on a full disk.
  renameSync(files.copy, `${files.copy}.away`);
  writeFileSync(files.copy, 'no dump');
  await expect(returnDatabase(place.settings, silent)).rejects.toThrow('pg_restore failed');
  renameSync(`${files.copy}.away`, files.copy);

  const other = { ...readConfig({}), ...place.settings, dataDir: temporary.path };
  const openElsewhere = async (options: { isCommand: boolean; announce?: (step: string) => Promise<void> }) =>
    (await openCurrentDatabase(other, silent, options)).database.close();
  await expect(openElsewhere({ isCommand: true })).rejects.toThrow('Another machine');
  await expect(migrate(database)).rejects.toThrow('Another machine');
  const announced: string[] = [];
  const waiting = openElsewhere({
    isCommand: false,
    announce: async (step) => void announced.push(step),
  });
  await expect.poll(() => announced).toContainEqual(expect.stringContaining('Waiting for a machine'));

  await returnDatabase(place.settings, silent);
  await waiting;
  expect(await database.reader.selectFrom('program_version').select('version').execute()).not.toEqual([
    { version: 'newer' },
  ]);
  expect(existsSync(files.copy)).toBe(false);
});

it('does a return again that was killed before its last step', async () => {
  const files = upgradeFiles(place.settings);
  mkdirSync(files.folder);
  writeFileSync(files.wanted, '');
  await database.write(({ queries }) =>
    sql`update program_version set version = 'last write'`.execute(queries),
  );
  await copyBeforeMigration(place.settings, silent);
  writeFileSync(files.returnTo, OWN_SCHEMA);
  await database.write(async ({ queries }) => {
    await sql`create schema homeport_return`.execute(queries);
    await sql`delete from program_version`.execute(queries);
  });
  expect(await isSchemaChanging(database)).toBe(true);
  await returnDatabase(place.settings, silent);
  // The server ends a session after the client has closed it.
  await expect.poll(() => isSchemaChanging(database)).toBe(false);
  expect(await database.reader.selectFrom('program_version').select('version').execute()).toEqual([
    { version: 'last write' },
  ]);
});

it('leaves a database that was put back to the schema of a former version', async () => {
  await database.write(({ queries }) =>
    sql`delete from kysely_migration where name = ${OWN_SCHEMA}`.execute(queries),
  );
  expect(await untilOtherProgram(database, new AbortController().signal, 20)).toContain('former version');
});

it('shows each process that serves to the one that migrates, with the API alone too', async () => {
  const stopping = new AbortController();
  void untilOtherProgram(database, stopping.signal, 20);
  await expect.poll(() => database.withoutTimeLimit((queries) => beginSchemaChange(queries, 0))).toBe(1);
  stopping.abort();
});

it('lets the servers alone for a command that an upgrade refuses', async () => {
  const files = upgradeFiles(place.settings);
  mkdirSync(files.folder);
  writeFileSync(files.wanted, '');
  await database.write(({ queries }) =>
    sql`delete from kysely_migration where name = ${OWN_SCHEMA}`.execute(queries),
  );
  const serving = new pg.Client({
    connectionString: place.settings.databaseUrl ?? '',
    application_name: 'homeport changes',
  });
  // The place is removed while it is open if the test fails.
  serving.on('error', () => {});
  await serving.connect();
  let refused: unknown;
  const command = open(true).catch((error: unknown) => {
    refused = error;
  });
  while (refused === undefined) expect(await isSchemaChanging(database)).toBe(false);
  expect(refused).toMatchObject({ message: expect.stringContaining('An upgrade is under way') });
  await command;
  await serving.end();
});
