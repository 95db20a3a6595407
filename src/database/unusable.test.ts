import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { temporaryFolder } from '../../test/database.ts';
import { isDatabaseFault, unusableDatabase } from './unusable.ts';

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());

function failureOf(sql: string, before = '', options: Sqlite.Options = {}): unknown {
  const file = join(folder.path, 'some.sqlite');
  const maker = new Sqlite(file);
  maker.exec('create table things (name text unique)');
  maker.close();
  const connection = new Sqlite(file, options);
  try {
    connection.exec(before);
    connection.exec(sql);
  } catch (error) {
    return error;
  } finally {
    connection.close();
  }
  throw new Error('it did not fail');
}

const message = (error: unknown) => unusableDatabase({ databaseUrl: null, dataDir: '/data' }, error).message;

test('a full disk', () => {
  // SQLite reports both with the same code.
  const error = failureOf('insert into things values (zeroblob(100000))', 'pragma max_page_count = 3');
  expect(isDatabaseFault(error)).toBe(true);
  expect(message(error)).toBe(
    'The database cannot be used: database or disk is full. It is in /data. Make room on that disk.',
  );
});

test('a file that cannot be written', () => {
  const error = failureOf("insert into things values ('a')", '', { readonly: true });
  expect(isDatabaseFault(error)).toBe(true);
  expect(message(error)).toContain('Give this user read and write access to everything in it.');
});

test.each(['selekt', "insert into things values ('a'), ('a')"])('not the database: %s', (sql) => {
  expect(isDatabaseFault(failureOf(sql))).toBe(false);
});

test.each([
  ['57P01', true],
  ['53300', true],
  ['28P01', true],
  ['ECONNREFUSED', true],
  ['23505', false],
  ['42601', false],
  ['ENOENT', false],
])('of PostgreSQL: %s, %s', (code, fault) => {
  expect(isDatabaseFault(Object.assign(new Error('x'), { code }))).toBe(fault);
});
