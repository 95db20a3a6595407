import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { temporaryFolder } from '../../test/database.ts';
import { sqliteChanges } from './sqlite-changes.ts';

let folder: ReturnType<typeof temporaryFolder>;
let writing: Sqlite.Database;
let reading: Sqlite.Database;
beforeEach(() => {
  folder = temporaryFolder();
  const file = join(folder.path, 'changes.sqlite');
  writing = new Sqlite(file);
  writing.pragma('journal_mode = WAL');
  writing.exec(
    'create table changes (seq integer primary key autoincrement, topic, account_id, install_id, id, user_id)',
  );
  reading = new Sqlite(file);
});
afterEach(() => {
  reading.close();
  writing.close();
  folder.remove();
});

const change = (account_id: string) => ({
  topic: 'account',
  account_id,
  install_id: null,
  id: account_id,
  user_id: null,
});

it('logs once that changes cannot be read, and continues from the same position later', async () => {
  const lines: string[] = [];
  const log = pino({ base: null }, { write: (line: string) => lines.push(line) });
  const told: unknown[] = [];
  const source = sqliteChanges(reading, log, { pollMs: 5 })({
    changed: (one) => told.push(one),
    on: () => told.push('on'),
    off: () => told.push('off'),
  });
  const [first, second] = [crypto.randomUUID(), crypto.randomUUID()];
  const insert = (id: string) =>
    writing.prepare("insert into changes (topic, account_id, id) values ('account', ?, ?)").run(id, id);
  try {
    insert(first);
    await expect.poll(() => told).toEqual(['on', change(first)]);
    writing.exec('alter table changes rename to away');
    await expect.poll(() => told).toEqual(['on', change(first), 'off']);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/no such table.*the change feed was interrupted/s);
    writing.exec('alter table away rename to changes');
    insert(second);
    await expect.poll(() => told).toEqual(['on', change(first), 'off', change(second), 'on']);
    expect(lines).toHaveLength(1);
  } finally {
    await source.close();
  }
});
