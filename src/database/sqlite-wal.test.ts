import { fstatSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Sqlite from 'better-sqlite3';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { migratedPlace, silent } from '../../test/database.ts';
import { mountSmallDisk } from '../../test/servers/small-disk.ts';
import type { Database } from './database.ts';
import { SQLITE_FILE } from './open.ts';
import { openSqlite } from './sqlite.ts';

let place: Awaited<ReturnType<typeof migratedPlace>>;
let database: Database;
/** Ends the syncs that have begun. */
let syncs: (() => void)[];
beforeEach(async () => {
  place = await migratedPlace();
  syncs = [];
  const sync = () => new Promise<void>((resolve) => syncs.push(resolve));
  database = openSqlite(join(place.settings.dataDir, SQLITE_FILE), silent, { disk: { syncFile: sync } });
});
afterEach(async () => {
  for (const end of syncs) end();
  await database.close();
  await place.remove();
});

const created_at = '2026-01-02T03:04:05.678Z';
const accounts = () => database.reader.selectFrom('accounts').select('id').execute();

function add(id: string, events: string[]): Promise<unknown> {
  const written = database.write(async ({ queries, afterCommit }) => {
    await queries.insertInto('accounts').values({ id, name: 'Written', created_at }).execute();
    afterCommit(() => events.push('effect'));
  });
  return written.then(() => events.push('resolved'));
}

it('resolves a write, runs its effects, shows it to readers and answers a ping after the sync', async () => {
  const events: string[] = [];
  const written = add('one', events);
  await expect.poll(() => syncs.length).toBe(1);
  const reads = [
    accounts(),
    database.snapshot((reader) => reader.selectFrom('accounts').select('id').execute()),
  ].map(async (read) => {
    expect(await read).toEqual([{ id: 'one' }]);
    events.push('read');
  });
  const pinged = database.ping().then(() => events.push('read'));
  await sleep(20);
  expect(events).toEqual([]);
  syncs[0]?.();
  await written;
  await Promise.all([...reads, pinged]);
  expect(events.filter((event) => event !== 'read')).toEqual(['effect', 'resolved']);
});

it('shows a write neither to reads nor to snapshots that begin just before its commit', async () => {
  const turns = async (work: () => void) => {
    for (let turn = 0; turn < 50; turn++) {
      work();
      await Promise.resolve();
    }
  };
  const reads: Promise<unknown>[] = [];
  const early: unknown[] = [];
  let isDurable = false;
  const look = (read: Promise<unknown[]>) =>
    reads.push(read.then((rows) => !isDurable && early.push(...rows)));
  const written = database.write(async ({ queries }) => {
    await queries.insertInto('accounts').values({ id: 'one', name: 'Written', created_at }).execute();
    const snapshot = database.snapshot(async (reader) => {
      await turns(() => {});
      return reader.selectFrom('accounts').select('id').execute();
    });
    look(snapshot);
    reads.push(turns(() => look(accounts())));
  });
  await expect.poll(() => syncs.length).toBe(1);
  await sleep(20);
  expect(early).toEqual([]);
  isDurable = true;
  syncs[0]?.();
  await Promise.all([written, ...reads]);
});

it('syncs once for all writes that come in during a sync', async () => {
  const events: string[] = [];
  const first = add('one', events);
  await expect.poll(() => syncs.length).toBe(1);
  const others = [add('two', events), add('three', events)];
  await sleep(20);
  expect(syncs).toHaveLength(1);
  syncs[0]?.();
  await first;
  await expect.poll(() => syncs.length).toBe(2);
  expect(events).toEqual(['effect', 'resolved']);
  syncs[1]?.();
  await Promise.all(others);
});

it('rejects reads and writes that wait too long for a sync, and keeps the write that is synced', async () => {
  const file = join(place.settings.dataDir, SQLITE_FILE);
  const syncFile = () => new Promise<void>((resolve) => syncs.push(resolve));
  const slow = openSqlite(file, silent, { disk: { syncFile, patienceMs: 30 } });
  const insert = (id: string) =>
    slow.write(({ queries }) =>
      queries.insertInto('accounts').values({ id, name: 'Written', created_at }).execute(),
    );
  try {
    const written = insert('one');
    await expect.poll(() => syncs.length).toBe(1);
    const late = [
      insert('two'),
      slow.reader.selectFrom('accounts').select('id').execute(),
      slow.snapshot((reader) => reader.selectFrom('accounts').select('id').execute()),
      slow.ping(),
    ];
    for (const one of await Promise.allSettled(late)) {
      expect(one).toMatchObject({ status: 'rejected', reason: { code: 'SQLITE_BUSY' } });
    }
    syncs[0]?.();
    await written;
    expect(await slow.reader.selectFrom('accounts').select('id').execute()).toEqual([{ id: 'one' }]);
  } finally {
    for (const end of syncs) end();
    await slow.close();
  }
});

it('syncs nothing for a transaction that wrote nothing', async () => {
  await database.write(({ queries }) => queries.selectFrom('accounts').select('id').execute());
  expect(syncs).toEqual([]);
});

it('syncs the log of a database that is a symbolic link', async () => {
  const { dataDir } = place.settings;
  const file = join(dataDir, SQLITE_FILE);
  const link = join(dataDir, 'link.sqlite');
  symlinkSync(file, link);
  const synced: number[] = [];
  const linked = openSqlite(link, silent, {
    disk: { syncFile: async (descriptor) => void synced.push(fstatSync(descriptor).ino) },
  });
  try {
    await linked.write(({ queries }) =>
      queries.insertInto('accounts').values({ id: 'one', name: 'Written', created_at }).execute(),
    );
    expect(synced).toEqual([statSync(`${file}-wal`).ino]);
  } finally {
    await linked.close();
  }
});

it.skipIf(process.getuid?.() !== 0)(
  'opens a database whose log has no room in it (skipped without root)',
  async ({ skip }) => {
    // Root of a container may not mount anything.
    const disk = await mountSmallDisk().catch(() => skip('nothing can be mounted'));
    const file = join(disk.path, SQLITE_FILE);
    const other = new Sqlite(file);
    try {
      other.pragma('journal_mode = WAL');
      other.pragma('wal_autocheckpoint = 0');
      other.exec(
        "create table accounts (id text, name blob); insert into accounts values ('one', zeroblob(1000000))",
      );
      await disk.leave(0);
      const full = openSqlite(file, silent);
      expect(await full.reader.selectFrom('accounts').select('id').execute()).toEqual([{ id: 'one' }]);
      await full.close();
    } finally {
      other.close();
      await disk.remove();
    }
  },
);
