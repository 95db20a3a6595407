import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SQLITE_FILE } from '../../src/database/open.ts';
import { text } from '../client.ts';
import { type DatabasePlace, migratedPlace, temporaryFolder } from '../database.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../homeport.ts';
import { onlyInLong } from '../rounds.ts';
import {
  backupThenCommand,
  backupThenKill,
  locksOn,
  type SqliteHomeport,
  sqlite3,
  sqliteHomeport,
} from './sqlite-sequences.ts';

const WRITES = 5;

describe('a server beside other SQLite clients', () => {
  let place: DatabasePlace;
  let homeport: TestHomeport;
  let owner: Person;
  let accountId: string;

  beforeAll(async () => {
    place = await migratedPlace();
    const start = () => startTestHomeport({ place, roles: { api: true, hosting: false } });
    // A process loses its locks if it closes the file anywhere else, which only a start with a database of an earlier one could do.
    const first = await start();
    await first.remove();
    homeport = await start();
    ({ owner, accountId } = await homeport.ownedAccount());
  });
  afterAll(async () => {
    await homeport?.remove();
    await place?.remove();
  });

  test('holds its locks on the database after the second start, and they see every write', async () => {
    const file = join(place.settings.dataDir, SQLITE_FILE);
    const locks = locksOn(file, process.pid);
    expect(locks).not.toEqual([]);
    expect(locksOn(`${file}-shm`, process.pid)).not.toEqual([]);

    // The query that docs/operations.md gives for looking at jobs.
    await sqlite3(
      file,
      "select kind, state, attempt, error from jobs where state <> 'succeeded' order by seq",
    );
    await sqlite3(file, `.backup '${join(place.settings.dataDir, 'copy.sqlite')}'`);
    expect(locksOn(file, process.pid)).toEqual(locks);
    const ids: string[] = [];
    for (let index = 0; index < WRITES; index++) {
      const made = await owner.client.post('/sites', { name: `Site ${index}`, account_id: accountId });
      ids.push(text(made.body, 'id'));
    }
    expect(locksOn(file, process.pid)).toEqual(locks);
    const present = (await sqlite3(file, 'select id from sites')).split('\n');
    expect(ids.filter((id) => !present.includes(id))).toEqual([]);
  });
});

onlyInLong(describe)('a whole server beside other SQLite clients', () => {
  let folder: ReturnType<typeof temporaryFolder>;
  let homeport: SqliteHomeport;
  beforeAll(async () => {
    folder = temporaryFolder();
    homeport = await sqliteHomeport(folder.path);
  });
  afterAll(() => folder.remove());

  test('.backup by sqlite3, writes, kill -9: every write is there', async () => {
    expect(await backupThenKill(homeport)).toEqual({ lost: 0, integrity: 'ok' });
  });

  test('.backup by sqlite3, a command, writes, SIGTERM: every write is there and the file is sound', async () => {
    expect(await backupThenCommand(homeport)).toEqual({ lost: 0, integrity: 'ok' });
  });
});
