import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { copyLiveDatabase } from './database-copy.ts';

let folder: string;
let from: string;
let to: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'homeport-copy-'));
  from = join(folder, 'wordpress.sqlite');
  to = join(folder, 'copy', 'wordpress.sqlite');
  await writeFile(from, 'first');
});
afterEach(() => rm(folder, { recursive: true }));

it('copies a database at rest', async () => {
  await writeFile(`${from}-journal`, '');
  await copyLiveDatabase(from, to, { pause: async () => {} });
  expect(await readFile(to, 'utf8')).toBe('first');
});

it('waits until a transaction has ended, and copies what it wrote', async () => {
  await writeFile(`${from}-journal`, 'open');
  let pauses = 0;
  await copyLiveDatabase(from, to, {
    async pause() {
      pauses += 1;
      if (pauses === 2) await writeFile(from, 'second');
      if (pauses === 3) await writeFile(`${from}-journal`, '');
    },
  });
  expect(await readFile(to, 'utf8')).toBe('second');
});

it('copies the journal of a transaction that was killed, so that SQLite can roll it back', async () => {
  const live = new Sqlite(join(folder, 'live.sqlite'));
  live.pragma('journal_mode = truncate');
  live.exec("create table notes (text); insert into notes values ('first')");
  // Writes pages before the end of the transaction.
  live.pragma('cache_size = 1');
  live.exec('begin');
  live.exec(
    "update notes set text = 'second'; insert into notes select hex(zeroblob(2000)) from (values (1), (2), (3), (4), (5), (6), (7), (8))",
  );
  await copyLiveDatabase(join(folder, 'live.sqlite'), to, { pause: async () => {} });
  live.close();
  const copied = new Sqlite(to);
  expect(copied.prepare('select text from notes').pluck().all()).toEqual(['first']);
  copied.close();
});

it('gives up on a database that changes all the time', async () => {
  let pauses = 0;
  const copied = copyLiveDatabase(from, to, {
    pause: () => writeFile(from, 'x'.repeat(++pauses)),
  });
  await expect(copied).rejects.toThrow('changes all the time');
  await expect(readFile(to)).rejects.toThrow('ENOENT');
});
