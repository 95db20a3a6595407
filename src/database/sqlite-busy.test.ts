import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { sql } from 'kysely';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { silent, temporaryFolder } from '../../test/database.ts';
import { HOUR_MS } from '../lib/durations.ts';
import type { Database } from './database.ts';
import { openSqlite } from './sqlite.ts';

let folder: ReturnType<typeof temporaryFolder>;
let database: Database;
/** As of another process: the only writer, until it rolls back. */
let holder: Sqlite.Database;

async function openHeld(patienceMs: number): Promise<void> {
  const file = join(folder.path, 'busy.sqlite');
  database = openSqlite(file, silent, { busyTimes: { patienceMs, retryMs: 3 } });
  await database.write(({ queries }) => sql`create table notes (text text)`.execute(queries));
  holder = new Sqlite(file);
  holder.exec('begin immediate');
}

beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(async () => {
  holder.close();
  await database.close();
  folder.remove();
});

const note = (text: string) =>
  database.write(({ queries }) => sql`insert into notes values (${text})`.execute(queries));
const notes = async () => (await sql<{ text: string }>`select text from notes`.execute(database.reader)).rows;

test('a file that another process writes to is read meanwhile, and nothing but writing waits', async () => {
  await openHeld(HOUR_MS);
  let written = false;
  const writing = note('patient').then(() => {
    written = true;
  });
  for (let asked = 0; asked < 20; asked++) {
    expect(await notes()).toEqual([]);
    // The waiting transaction tries again in between.
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(written).toBe(false);
  holder.exec('rollback');
  await writing;
  expect(await notes()).toEqual([{ text: 'patient' }]);
});

test('a transaction is refused in the end, and the next one succeeds as soon as the file is free', async () => {
  await openHeld(30);
  await expect(note('refused')).rejects.toMatchObject({ code: 'SQLITE_BUSY' });
  holder.exec('rollback');
  await note('kept');
  expect(await notes()).toEqual([{ text: 'kept' }]);
});
