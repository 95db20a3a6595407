import { expect, test } from 'vitest';
import { mariadbConfig } from './mariadb-config.ts';

const GIB = 1024 ** 3;
const MACHINE = {
  folder: '/var/lib/x/mariadb/data',
  temporary: '/var/lib/x/mariadb/tmp',
  socket: '/run/x/mariadb/mysqld.sock',
  user: 'mysql',
  memory: 8 * GIB,
};

test('is reachable only by its socket, and reads no files for its users', () => {
  const lines = mariadbConfig(MACHINE).split('\n');
  expect(lines).toEqual(
    expect.arrayContaining([
      '[mariadbd]',
      'datadir = /var/lib/x/mariadb/data',
      'socket = /run/x/mariadb/mysqld.sock',
      'user = mysql',
      'skip-networking = 1',
      'local-infile = 0',
      'enforce-storage-engine = InnoDB',
    ]),
  );
});

test('caps the memory that a session can set', () => {
  const lines = mariadbConfig(MACHINE).split('\n');
  const limits = lines
    .filter((line) => line.startsWith('maximum-'))
    .map((line) => line.slice('maximum-'.length));
  expect(limits).toEqual(
    expect.arrayContaining([
      'max-session-mem-used = 160M',
      'tmp-table-size = 16M',
      'max-heap-table-size = 16M',
      'sort-buffer-size = 2M',
      'join-buffer-size = 256K',
    ]),
  );
  expect(lines).toEqual(expect.arrayContaining([...limits, 'tmpdir = /var/lib/x/mariadb/tmp']));
});

test('uses an eighth of the memory for the buffer pool, within bounds', () => {
  const pool = (memory: number) =>
    /innodb-buffer-pool-size = (.*)/.exec(mariadbConfig({ ...MACHINE, memory }))?.[1];
  expect([0.5, 8, 24, 256].map((gib) => pool(gib * GIB))).toEqual(['128M', '1024M', '3072M', '8192M']);
});
