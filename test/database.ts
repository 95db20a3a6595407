import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { pino } from 'pino';
import { inject } from 'vitest';
import { publicFolder } from '../src/api/public-certificate.ts';
import type { Database } from '../src/database/database.ts';
import { migrate } from '../src/database/migrate.ts';
import { openDatabase, SQLITE_FILE } from '../src/database/open.ts';

export const silent = pino({ level: 'silent' });

/** An empty folder for one test, with a function that removes it. */
export function temporaryFolder(): { path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'homeport-'));
  return {
    path,
    remove: () => {
      // A server with this data folder has a public folder beside it.
      for (const folder of [path, publicFolder(path)]) rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The location of a new, empty database of the current project (SQLite or PostgreSQL). */
export interface DatabasePlace {
  settings: { databaseUrl: string | null; dataDir: string };
  remove(): Promise<void>;
}

export async function databasePlace(): Promise<DatabasePlace> {
  const server = inject('postgresUrl');
  return server === '' ? sqlitePlace() : postgresPlace(server);
}

/** The same with the current schema. It is a copy, because migrating takes longer than most tests. */
export async function migratedPlace(): Promise<DatabasePlace> {
  const server = inject('postgresUrl');
  if (server !== '') return postgresPlace(server, MIGRATED);
  migratedFile ??= migrateFile();
  const content = await migratedFile;
  const place = sqlitePlace();
  writeFileSync(join(place.settings.dataDir, SQLITE_FILE), content, { mode: 0o600 });
  return place;
}

/** Name of the template database on the tests' PostgreSQL, with the current schema. */
const MIGRATED = 'migrated';
let migratedFile: Promise<Buffer> | undefined;

/** Creates the template of {@link migratedPlace}. No connection to it may stay open. */
export async function migrateTemplate(server: string): Promise<void> {
  await administer(server, `create database ${MIGRATED}`);
  await migrateAt({ databaseUrl: urlOf(server, MIGRATED), dataDir: '' });
}

async function migrateFile(): Promise<Buffer> {
  const { path, remove } = temporaryFolder();
  try {
    await migrateAt({ databaseUrl: null, dataDir: path });
    return readFileSync(join(path, SQLITE_FILE));
  } finally {
    remove();
  }
}

async function migrateAt(settings: DatabasePlace['settings']): Promise<void> {
  const database = openDatabase(settings, silent);
  try {
    await migrate(database);
  } finally {
    await database.close();
  }
}

function sqlitePlace(): DatabasePlace {
  const { path, remove } = temporaryFolder();
  return { settings: { databaseUrl: null, dataDir: path }, remove: async () => remove() };
}

async function postgresPlace(server: string, template = 'template1'): Promise<DatabasePlace> {
  const { path, remove } = temporaryFolder();
  const name = `test_${randomBytes(8).toString('hex')}`;
  await administer(server, createFrom(name, template));
  return {
    settings: { databaseUrl: urlOf(server, name), dataDir: path },
    remove: async () => {
      await administer(server, `drop database ${name} with (force)`);
      remove();
    },
  };
}

/** A copy of a database that can be put back. */
export interface DatabaseCopy {
  /** No connection to the database may be open. */
  restore(): Promise<void>;
  remove(): Promise<void>;
}

/** Copies a database without open connections: SQLite's file, or PostgreSQL's database. */
export async function copyDatabase({ settings }: DatabasePlace): Promise<DatabaseCopy> {
  const { databaseUrl, dataDir } = settings;
  if (databaseUrl === null) {
    const file = join(dataDir, SQLITE_FILE);
    const content = readFileSync(file);
    return {
      async restore() {
        for (const ending of ['-wal', '-shm']) rmSync(`${file}${ending}`, { force: true });
        writeFileSync(file, content, { mode: 0o600 });
      },
      async remove() {},
    };
  }
  const server = inject('postgresUrl');
  const name = new URL(databaseUrl).pathname.slice(1);
  const copy = `${name}_${randomBytes(4).toString('hex')}`;
  await administer(server, createFrom(copy, name));
  return {
    async restore() {
      await administer(server, `drop database ${name} with (force)`);
      await administer(server, createFrom(name, copy));
    },
    remove: () => administer(server, `drop database ${copy} with (force)`),
  };
}

/** Copying files takes half the time of copying pages through the log, because the tests' server does not sync. */
const createFrom = (name: string, template: string) =>
  `create database ${name} template ${template} strategy file_copy`;

const urlOf = (server: string, database: string) => server.replace(/\/postgres$/, `/${database}`);

/** A separate, migrated database for one test file. */
export async function openTestDatabase(): Promise<
  Database & { place: DatabasePlace; remove(): Promise<void> }
> {
  const place = await migratedPlace();
  const database = openDatabase(place.settings, silent);
  return {
    ...database,
    place,
    remove: async () => {
      await database.close();
      await place.remove();
    },
  };
}

async function administer(url: string, statement: string): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
