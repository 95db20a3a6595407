import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { temporaryFolder } from '../database.ts';
import { onlyInLong } from '../rounds.ts';
import {
  backupThenCommand,
  backupThenKill,
  locksOn,
  type SqliteHomeport,
  sqlite3,
  sqliteHomeport,
  WRITES,
} from './sqlite-sequences.ts';

let folder: ReturnType<typeof temporaryFolder>;
let homeport: SqliteHomeport;
beforeAll(async () => {
  folder = temporaryFolder();
  homeport = await sqliteHomeport(folder.path);
});
afterEach(() => homeport.close());
afterAll(() => folder.remove());

test('a server holds its locks on the database after the second start, beside other SQLite clients', async () => {
  const server = await homeport.startAgain();
  const { pid = 0 } = server.process;
  const locks = locksOn(homeport.file, pid);
  expect(locks).not.toEqual([]);
  expect(locksOn(`${homeport.file}-shm`, pid)).not.toEqual([]);

  // The query that docs/operations.md gives for looking at jobs.
  await sqlite3(
    homeport.file,
    "select kind, state, attempt, error from jobs where state <> 'succeeded' order by seq",
  );
  await sqlite3(homeport.file, `.backup '${join(folder.path, 'copy.sqlite')}'`);
  expect(locksOn(homeport.file, pid)).toEqual(locks);
  const ids = await homeport.write(WRITES);
  await homeport.end(server, 'SIGKILL');
  const present = (await sqlite3(homeport.file, 'select id from sites')).split('\n');
  expect(ids.filter((id) => !present.includes(id))).toEqual([]);
});

onlyInLong(test)('.backup by sqlite3, writes, kill -9: every write is there', async () => {
  expect(await backupThenKill(homeport)).toEqual({ lost: 0, integrity: 'ok' });
});

onlyInLong(test)(
  '.backup by sqlite3, a command, writes, SIGTERM: every write is there and the file is sound',
  async () => {
    expect(await backupThenCommand(homeport)).toEqual({ lost: 0, integrity: 'ok' });
  },
);
