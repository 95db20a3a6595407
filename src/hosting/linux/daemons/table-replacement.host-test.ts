import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { rounds } from '../../../../test/rounds.ts';
import { type DatabasesMachine, EVERYTHING, LOOK, startDatabasesMachine } from './databases.fixture.ts';
import type { Databases } from './databases.ts';

let here: DatabasesMachine;
let databases: Databases;
/** Duration of a replacement on this machine. */
let usualMs = 200;

beforeAll(async () => {
  here = await startDatabasesMachine({ isPrepared: true });
  databases = here.databases;
});

afterAll(() => here.machine.stop());

beforeEach(async () => {
  await here.renew();
  await databases.query('hp_shop', `${EVERYTHING}; CREATE TABLE only_old (id INT)`);
  await databases.dump('hp_shop', join(here.folder, 'from.sql'));
  await databases.load('hp_blog', join(here.folder, 'from.sql'));
  await databases.query(
    'hp_blog',
    'INSERT INTO children VALUES (50, 3); DROP TABLE only_old; CREATE TABLE only_new (id INT)',
  );
});

async function expectReplaced(): Promise<void> {
  const tables = await here.thingsIn('hp_shop');
  expect(tables).toContain('only_new');
  expect(tables).not.toContain('only_old');
  expect(await databases.query('hp_shop', 'SELECT id FROM children ORDER BY id')).toEqual([
    ['1'],
    ['2'],
    ['50'],
  ]);
  const looked = await databases.query('hp_shop', LOOK);
  expect(looked.slice(-4)).toEqual([['new!'], ['4'], [expect.any(String)], ['clean']]);
  await expect(databases.query('hp_shop', 'INSERT INTO children VALUES (60, 999)')).rejects.toThrow(
    /foreign key/,
  );
  expect(await here.definersIn('hp_shop')).toEqual([`${here.shop.name}@localhost`]);
  expect(await here.thingsIn('hp_blog')).toEqual([]);
  await databases.drop('hp_blog', here.blog.name);
  expect(await databases.list()).toEqual(['hp_shop']);
  await databases.create('hp_blog', here.blog.name);
}

test('replaces all content of one database by that of the other', async () => {
  const begun = performance.now();
  await databases.replaceTables('hp_blog', 'hp_shop');
  usualMs = performance.now() - begun;
  await expectReplaced();
});

test('a completed replacement is not repeated until there is new content', async () => {
  await databases.replaceTables('hp_blog', 'hp_shop');
  await databases.replaceTables('hp_blog', 'hp_shop');
  await expectReplaced();
  await databases.drop('hp_blog', here.blog.name);
  await databases.create('hp_blog', here.blog.name);
  await databases.replaceTables('hp_blog', 'hp_shop');
  expect(await here.thingsIn('hp_shop')).toEqual([]);
});

test.each(rounds([0.5], [0.2, 0.5, 0.8]))(
  'the next call completes a replacement that a crash interrupted after %f of its time',
  async (part) => {
    const replacement = databases.replaceTables('hp_blog', 'hp_shop').then(
      () => true,
      () => false,
    );
    await pause(part * usualMs);
    await here.machine.daemons.signal('mariadb', 'SIGKILL');
    const ended = await replacement;
    await pause(20);
    await here.server.ensure();
    if (!ended) await databases.replaceTables('hp_blog', 'hp_shop');
    await expectReplaced();
  },
);

test('a failed replacement leaves both as they were', async () => {
  const hash = createHash('sha256').update('hp_blog').digest('hex').slice(0, 16);
  const [progress, aside] = [`hp_exchange_${hash}`, `hp_replaced_${hash}`];
  // As after an interruption before the atomic step, with a table now in the way.
  await here.asRoot(`CREATE DATABASE ${progress}; CREATE DATABASE ${aside}; CREATE TABLE ${aside}.children (id INT);
    CREATE TABLE ${progress}.begun AS SELECT 'CREATE VIEW mine AS SELECT 1' AS mine, 'CREATE VIEW theirs AS SELECT 2' AS theirs`);
  await expect(databases.replaceTables('hp_blog', 'hp_shop')).rejects.toThrow(/already exists/);
  expect(await databases.query('hp_blog', 'SELECT * FROM mine; SELECT id FROM children ORDER BY id')).toEqual(
    [['1'], ['1'], ['2'], ['50']],
  );
  expect(
    await databases.query('hp_shop', 'SELECT * FROM theirs; SELECT id FROM children ORDER BY id'),
  ).toEqual([['2'], ['1'], ['2']]);
  expect(await databases.list()).toEqual(['hp_blog', 'hp_shop']);
});
