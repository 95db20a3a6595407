import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Sqlite from 'better-sqlite3';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { onlyInLong } from '../../../../test/rounds.ts';
import { systemClock } from '../../../lib/clock.ts';
import { removeTree } from './archive-exchange.ts';
import { STAMP_STEP_MS } from './file-state.ts';
import { linesIn, makeSnapshotPlace, type SnapshotPlace } from './snapshots.fixture.ts';
import { copyAtRest } from './sqlite-database.ts';
import { listedChunks } from './store/chunk-list.ts';
import { chunksIn, readPackList } from './store/pack-file.ts';

let here: SnapshotPlace;
let open: Sqlite.Database[];
beforeEach(() => {
  here = makeSnapshotPlace();
  open = [];
});
afterEach(() => {
  for (const database of open) database.close();
  return removeTree(here.base);
});

const NAME = 'wp-content/plugin/stats.db';
const PAD = 'x'.repeat(3_000);

/** A plugin's database: two tables that always have the same number of rows. */
function createDatabase(journal: 'wal' | 'delete', rows = 100): Sqlite.Database {
  fs.mkdirSync(join(here.site, 'wp-content/plugin'), { recursive: true });
  const database = new Sqlite(join(here.site, NAME));
  open.push(database);
  database.pragma(`journal_mode = ${journal}`);
  database.pragma('synchronous = off');
  database.exec(
    'create table one (n integer primary key, pad); create table two (n integer primary key, pad)',
  );
  commit(database, rows);
  return database;
}

function commit(database: Sqlite.Database, rows = 1): void {
  const add = (table: string) => database.prepare(`insert into ${table} (pad) values (?)`);
  const [one, two] = [add('one'), add('two')];
  database.transaction(() => {
    for (let row = 0; row < rows; row++) one.run(PAD);
    for (let row = 0; row < rows; row++) two.run(PAD);
  })();
}

/** Rows of both tables in the restored database. */
async function restored(): Promise<{ one: unknown; two: unknown }> {
  here.wreck();
  await here.snapshots.restore(here.install, here.backupId);
  const database = new Sqlite(join(here.site, NAME));
  open.push(database);
  expect(database.pragma('integrity_check', { simple: true })).toBe('ok');
  const rows = (table: string) => database.prepare(`select count(*) from ${table}`).pluck().get();
  return { one: rows('one'), two: rows('two') };
}

/** Makes the snapshot while `write` is called again and again, except while the website has to rest. */
async function snapshotWhile(write: () => void, everyMs: number, mayRest = true): Promise<void> {
  let rests = false;
  const writing = setInterval(() => rests || write(), everyMs);
  try {
    await here.snapshots.snapshot(here.install, here.backupId, undefined, undefined, async (work) => {
      rests = mayRest;
      try {
        return await work();
      } finally {
        rests = false;
      }
    });
  } finally {
    clearInterval(writing);
  }
}

const archived = (): unknown[] =>
  here.manifestLines().flatMap((line) => (Object(line).type === 'file' ? [Object(line).path] : []));

test('a database and its log are from one moment, whatever is archived between them', async () => {
  const database = createDatabase('wal', 200);
  // Between the two in the order of names.
  here.put(`${NAME}-other`, randomBytes(48 * 1024 * 1024));
  const running = here.snapshots.snapshot(here.install, here.backupId);
  await here.untilWriting();
  commit(database);
  database.pragma('wal_checkpoint(truncate)');
  await running;
  expect(archived()).toEqual([NAME, `${NAME}-wal`, `${NAME}-other`]);
  database.close();
  expect(await restored()).toEqual({ one: 200, two: 200 });
});

test('the log of a database is stored once, with the database', async () => {
  commit(createDatabase('wal'));
  // So long ago that the thread of the store would take it.
  await sleep(2 * STAMP_STEP_MS);
  await here.snapshots.snapshot(here.install, here.backupId);
  const lines = [...linesIn(here.manifestPath()), ...here.manifestLines()];
  const lists = lines.flatMap((line) => [Object(line).chunks, Object(line).entries]);
  const used = new Set(
    lists.flatMap((list) => (typeof list === 'string' ? (listedChunks(list) ?? []) : [])).map(({ id }) => id),
  );
  const stored = here.packs().flatMap((pack) => [...chunksIn(readPackList(dirname(pack), basename(pack)))]);
  expect(archived()).toContain(`${NAME}-wal`);
  expect(stored.filter(({ id }) => !used.has(id))).toEqual([]);
});

for (const journal of ['wal', 'delete'] as const)
  onlyInLong(test)(`a database in ${journal} mode is whole, although it is written to`, async () => {
    const database = createDatabase(journal, 2_000);
    database.pragma('wal_autocheckpoint = 4');
    await snapshotWhile(() => commit(database), 130);
    database.close();
    const { one, two } = await restored();
    expect(one).toBe(two);
    expect(Number(one)).toBeGreaterThanOrEqual(2_000);
  });

test('an open transaction is rolled back', async () => {
  const database = createDatabase('delete');
  // So small that pages are written before the end of the transaction.
  database.pragma('cache_size = 1');
  database.exec('begin');
  database.prepare('update one set pad = ?').run('y'.repeat(3_000));
  database.exec('delete from two');
  await here.snapshots.snapshot(here.install, here.backupId);
  database.exec('rollback');
  expect(archived()).toEqual([NAME, `${NAME}-journal`]);
  database.close();
  expect(await restored()).toEqual({ one: 100, two: 100 });
});

onlyInLong(test)(
  'a database that changes all the time is archived while its website rests, or else fails the snapshot',
  async () => {
    const database = createDatabase('wal');
    await expect(snapshotWhile(() => commit(database), 5, false)).rejects.toThrow(
      `The database "${NAME}" kept changing while it was read.`,
    );
    await snapshotWhile(() => commit(database), 5);
    database.close();
    const { one, two } = await restored();
    expect(one).toBe(two);
  },
);

test.each([247, 248, 255])('a database with a name of %i bytes is archived', async (length) => {
  const name = 'n'.repeat(length);
  here.put(name, 'SQLite format 3\0rest');
  await here.snapshots.snapshot(here.install, here.backupId);
  expect(archived()).toEqual([name]);
  here.wreck();
  await here.snapshots.restore(here.install, here.backupId);
  expect(fs.readFileSync(join(here.site, name), 'utf8')).toBe('SQLite format 3\0rest');
});

test('a database whose folder may not be read any more is named', {
  skip: process.getuid?.() === 0,
}, async () => {
  here.put('closed/some.db', 'SQLite format 3\0');
  fs.chmodSync(join(here.site, 'closed'), 0);
  try {
    const copy = copyAtRest({
      root: Buffer.from(here.site),
      database: Buffer.from('closed/some.db'),
      tries: 1,
      clock: systemClock,
      signal: undefined,
      async copy() {},
      async copied() {},
    });
    await expect(copy).rejects.toThrow(/^"closed\/some.db.*" cannot be read\. Give its owner/);
    await expect(copy).rejects.not.toHaveProperty('code');
  } finally {
    fs.chmodSync(join(here.site, 'closed'), 0o755);
  }
});

test('a database that changes during each copy is copied twice, and once while its website rests', async () => {
  let rests = false;
  let copies = 0;
  const grow = () => fs.appendFileSync(join(busy.site, 'busy.db'), 'x');
  const busy = makeSnapshotPlace({
    // Asked before each copy. Far ahead, so that the last change looks old.
    clock: {
      now() {
        copies += rests ? 1 : 0;
        setImmediate(grow);
        return new Date(Date.now() + 3_600_000);
      },
    },
  });
  try {
    busy.put('busy.db', 'SQLite format 3\0');
    const ofDatabase = () => busy.manifestLines().filter((line) => Object(line).path === 'busy.db');
    const snapshot = (write: boolean) =>
      busy.snapshots.snapshot(busy.install, busy.backupId, undefined, undefined, async (work) => {
        rests = true;
        if (!write) vi.spyOn(fs, 'appendFileSync').mockImplementation(() => {});
        return work().finally(() => {
          rests = false;
        });
      });
    await expect(snapshot(true)).rejects.toThrow('kept changing');
    expect(copies).toBe(1);
    await snapshot(false);
    expect(ofDatabase().map((line) => Object(line).superseded)).toEqual([true, true, undefined]);
  } finally {
    vi.restoreAllMocks();
    await removeTree(busy.base);
  }
});

test('a database of a website that cannot rest is copied up to four times', async () => {
  let calls = 0;
  const busy = makeSnapshotPlace({
    clock: {
      now() {
        // The first two calls are the times of the snapshot itself, and of its small files.
        if (++calls <= 5) setImmediate(() => fs.appendFileSync(join(busy.site, 'busy.db'), 'x'));
        return new Date(Date.now() + 3_600_000);
      },
    },
  });
  try {
    busy.put('busy.db', 'SQLite format 3\0');
    await busy.snapshots.snapshot(busy.install, busy.backupId);
    const lines = busy.manifestLines().filter((line) => Object(line).path === 'busy.db');
    expect(lines.map((line) => Object(line).superseded)).toEqual([true, true, true, undefined]);
  } finally {
    await removeTree(busy.base);
  }
});

test('files that only look like a database, or like a part of one, are archived as they are', async () => {
  here.put('fake.db', `SQLite format 3\0${'x'.repeat(5_000)}`);
  here.put('fake.db-wal', 'no log');
  fs.mkdirSync(join(here.site, 'fake.db-journal'));
  here.put('fake.db-journal/inner', 'in a folder');
  here.put('plain', 'no database');
  here.put('plain-wal', 'no log');
  here.put('linked.db', 'SQLite format 3\0');
  fs.symlinkSync('/etc/passwd', join(here.site, 'linked.db-wal'));
  fs.symlinkSync('fake.db', join(here.site, 'alias.db'));
  const handle = fs.openSync(join(here.site, 'huge.db'), 'w');
  fs.writeSync(handle, 'SQLite format 3\0');
  fs.ftruncateSync(handle, 2 ** 40);
  fs.closeSync(handle);
  const { files } = await here.snapshots.snapshot(here.install, here.backupId);
  expect(files).toBe(7);
  here.wreck();
  await here.snapshots.restore(here.install, here.backupId);
  expect(fs.readFileSync(join(here.site, 'fake.db-wal'), 'utf8')).toBe('no log');
  expect(fs.readFileSync(join(here.site, 'fake.db-journal/inner'), 'utf8')).toBe('in a folder');
  expect(fs.readlinkSync(join(here.site, 'linked.db-wal'))).toBe('/etc/passwd');
  expect(fs.readlinkSync(join(here.site, 'alias.db'))).toBe('fake.db');
  expect(fs.statSync(join(here.site, 'huge.db')).size).toBe(2 ** 40);
});
