import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { pino } from 'pino';
import { inject } from 'vitest';
import type { Database } from '../src/database/database.ts';
import { migrate } from '../src/database/migrate.ts';
import { openDatabase } from '../src/database/open.ts';

export const silent = pino({ level: 'silent' });

/** An empty folder for one test, and how to be rid of it. */
export function temporaryFolder(): { path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'homeport-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** Where a new, empty database of the present project (SQLite or PostgreSQL) lies. */
export interface DatabasePlace {
  settings: { databaseUrl: string | null; dataDir: string };
  remove(): Promise<void>;
}

export async function databasePlace(): Promise<DatabasePlace> {
  const folder = temporaryFolder();
  const server = inject('postgresUrl');
  if (server === '') {
    return {
      settings: { databaseUrl: null, dataDir: folder.path },
      remove: async () => folder.remove(),
    };
  }
  const name = `test_${randomBytes(8).toString('hex')}`;
  await administer(server, `create database ${name}`);
  return {
    settings: { databaseUrl: server.replace(/\/postgres$/, `/${name}`), dataDir: folder.path },
    remove: async () => {
      await administer(server, `drop database ${name} with (force)`);
      folder.remove();
    },
  };
}

/** A migrated database of its own for one test file. */
export async function openTestDatabase(): Promise<
  Database & { place: DatabasePlace; remove(): Promise<void> }
> {
  const place = await databasePlace();
  const database = openDatabase(place.settings, silent);
  await migrate(database);
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
