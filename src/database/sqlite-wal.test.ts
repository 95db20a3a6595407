import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { migratedPlace, silent } from '../../test/database.ts';
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
  database = openSqlite(join(place.settings.dataDir, SQLITE_FILE), silent, sync);
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

it('resolves a write, runs its effects and shows it to readers after the sync', async () => {
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
  await sleep(20);
  expect(events).toEqual([]);
  syncs[0]?.();
  await written;
  expect(events.slice(0, 2)).toEqual(['effect', 'resolved']);
  await Promise.all(reads);
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

it('syncs nothing for a transaction that wrote nothing', async () => {
  await database.write(({ queries }) => queries.selectFrom('accounts').select('id').execute());
  expect(syncs).toEqual([]);
});
