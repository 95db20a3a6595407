import { expect, it } from 'vitest';
import { EVERYTHING, keptSentence, needsTypedName, partsLabel, partsOf, readTables } from './replacement.ts';

const shop = { id: 'i', name: 'shop', environment: 'production', php_version: '8.4' } as const;
const plain = { ...shop, php_version: null };

it('chooses parts by scope, and tables only with the database', () => {
  expect(partsOf('everything')).toEqual(EVERYTHING);
  expect(partsOf('database', ['wp_posts'])).toEqual({ files: false, database: true, tables: ['wp_posts'] });
  expect(partsOf('files', ['wp_posts'])).toEqual({ files: true, database: false, tables: [] });
});

it('names what is replaced', () => {
  expect(partsLabel(EVERYTHING, shop)).toBe('the files and the database');
  expect(partsLabel(EVERYTHING, plain)).toBe('the files');
  expect(partsLabel(partsOf('files'), shop)).toBe('the files');
  expect(partsLabel(partsOf('database', ['wp_posts']), shop)).toBe('the table wp_posts');
  expect(partsLabel(partsOf('everything', ['a', 'b']), shop)).toBe('the files and 2 tables of the database');
});

it('names what stays', () => {
  expect(keptSentence(EVERYTHING, shop)).toBe('shop keeps its name, domains, certificates and settings.');
  expect(keptSentence(partsOf('files'), shop)).toMatch(/^shop keeps its database, name/);
  expect(keptSentence(partsOf('files'), plain)).toMatch(/^shop keeps its name/);
  expect(keptSentence(partsOf('database', ['a']), shop)).toMatch(/^shop keeps its files, other tables, name/);
});

it('asks for the name of installs with visitors, and without a checkpoint', () => {
  expect(needsTypedName(shop, true)).toBe(true);
  expect(needsTypedName({ environment: null }, true)).toBe(true);
  expect(needsTypedName({ environment: 'staging' }, true)).toBe(false);
  expect(needsTypedName({ environment: 'staging' }, false)).toBe(true);
});

it('parses names of tables', () => {
  expect(readTables(' wp_posts, wp_postmeta\nwp_posts;')).toEqual(['wp_posts', 'wp_postmeta']);
  expect(readTables(' ')).toEqual([]);
});
