import { expect, it } from 'vitest';
import { findWordPress } from './imported-database.ts';

const tablesOf = (prefix: string, ...more: string[]) =>
  ['options', 'posts', 'users', 'usermeta', ...more].map((name) => prefix + name);

/** A database with these tables, whose WordPress have this address. */
const databaseWith = (tables: string[], address = 'https://old.example/') => ({
  query: async (statement: string) =>
    statement === 'SHOW TABLES' ? tables.map((name) => [name]) : [[address], [address]],
});

it('finds the WordPress of a dump, with both forms of its address', async () => {
  const found = { tablePrefix: 'wp_', hosts: ['old.example', 'www.old.example'] };
  expect(await findWordPress(databaseWith(tablesOf('wp_')), null)).toEqual(found);
  const two = databaseWith([...tablesOf('old_'), ...tablesOf('wp_')], 'http://www.old.example:8080');
  expect(await findWordPress(two, 'wp_')).toEqual({
    tablePrefix: 'wp_',
    hosts: ['www.old.example:8080', 'old.example:8080'],
  });
});

it.each([
  ['no WordPress', databaseWith(['wp_options']), null],
  ['several WordPress with the table prefixes', databaseWith([...tablesOf('a_'), ...tablesOf('b_')]), null],
  ['a network of websites', databaseWith(tablesOf('wp_', 'blogs', 'sitemeta')), 'wp_'],
  ['in the folder /blog/ of old.example', databaseWith(tablesOf('wp_'), 'https://old.example/blog/'), null],
  ['no address', databaseWith(tablesOf('wp_'), 'none'), null],
])('refuses a dump: %s', async (reason, database, configured) => {
  await expect(findWordPress(database, configured)).rejects.toThrow(reason);
});
