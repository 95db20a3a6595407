import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { copyLiveDatabase } from './database-copy.ts';

let folder: string;
let from: string;
let to: string;

beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'homeport-copy-')));
  await mkdir(join(folder, 'copy'));
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

it('copies what a database in WAL mode has committed', async () => {
  const live = new Sqlite(from.replace('wordpress', 'wal'));
  live.pragma('journal_mode = wal');
  live.exec("create table notes (text); insert into notes values ('committed')");
  await copyLiveDatabase(live.name, to, { pause: async () => {} });
  live.close();
  const copied = new Sqlite(to);
  expect(copied.prepare('select text from notes').pluck().all()).toEqual(['committed']);
  copied.close();
});

it('neither follows a link nor waits at a pipe in place of a file', async () => {
  const copied = (name: string) => copyLiveDatabase(join(folder, name), to, { pause: async () => {} });
  await symlink(from, join(folder, 'link'));
  await expect(copied('link')).rejects.toThrow('not a plain file');
  await mkdir(join(folder, 'other'));
  await writeFile(join(folder, 'other/database'), 'of another website');
  await symlink(join(folder, 'other'), join(folder, 'linked'));
  await expect(copied('linked/database')).rejects.toThrow('symbolic link');
  execFileSync('mkfifo', [join(folder, 'pipe'), `${from}-journal`]);
  await expect(copied('pipe')).rejects.toThrow('not a plain file');
  await expect(copied('wordpress.sqlite')).rejects.toThrow('not a plain file');
  await expect(readFile(to)).rejects.toThrow('ENOENT');
});
