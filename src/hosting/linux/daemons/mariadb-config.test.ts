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

test('is reached by its socket alone, and reads no files for its users', () => {
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

test('lets no session have more memory than all are given', () => {
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

test('takes an eighth of the memory for its tables, within bounds', () => {
  const pool = (memory: number) =>
    /innodb-buffer-pool-size = (.*)/.exec(mariadbConfig({ ...MACHINE, memory }))?.[1];
  expect([0.5, 8, 24, 256].map((gib) => pool(gib * GIB))).toEqual(['128M', '1024M', '3072M', '8192M']);
});
