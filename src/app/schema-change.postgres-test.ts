import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { sql } from 'kysely';
import pg from 'pg';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type DatabasePlace, migratedPlace, silent } from '../../test/database.ts';
import { readConfig } from '../config/config.ts';
import type { Database } from '../database/database.ts';
import { untilNewerProgram } from '../database/newer-program.ts';
import { openDatabase } from '../database/open.ts';
import { beginSchemaChange, isSchemaChanging } from '../database/schema-change.ts';
import { openCurrentDatabase } from './open-platform.ts';
import { OWN_SCHEMA, upgradeFiles } from './upgrade-copy.ts';

let place: DatabasePlace;
let database: Database;
beforeEach(async () => {
  place = await migratedPlace();
  database = openDatabase(place.settings, silent);
});
afterEach(async () => {
  await database.close();
  await place.remove();
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
  const stopping = new AbortController();
  const left = untilNewerProgram(database, stopping.signal, 20);
  const migrated = open(false).catch((error: unknown) => error);
  expect(await left).toContain('This process leaves it meanwhile');
  await expect(open(true)).rejects.toThrow('Another machine brings the database up to date');
  expect(existsSync(files.copy)).toBe(false);
  await serving.end();
  expect(await migrated).toMatchObject({ message: expect.stringContaining('already exists') });
  expect(existsSync(files.copy)).toBe(true);
  expect(await isSchemaChanging(database)).toBe(false);
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
