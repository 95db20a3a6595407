import { expect, test } from 'vitest';
import { databaseName, databaseUser, grantedDatabase, identifier, parseBatch, textLiteral } from './sql.ts';

test('names of databases stand in backticks, and with the wildcard escaped where a right is given', () => {
  expect(databaseName('hp_a_1')).toBe('`hp_a_1`');
  expect(grantedDatabase('hp_a_1')).toBe('`hp\\_a\\_1`');
  for (const name of ['a', 'hp_', 'HP_A', 'hp_a-b', 'hp_`', 'hp_a\n', `hp_${'a'.repeat(51)}`]) {
    expect(() => databaseName(name)).toThrow('cannot be the name of a database');
  }
});

test('users are Unix users of installs, and none of the system', () => {
  expect(databaseUser('shop-1')).toBe('`shop-1`@`localhost`');
  for (const name of ['root', 'mysql', 'a', '-a', 'a-', '1a', 'a_b', 'a`b', 'x'.repeat(41)]) {
    expect(() => databaseUser(name)).toThrow('cannot be the name of a user');
  }
});

test('texts and identifiers cannot end what they stand in', () => {
  expect(textLiteral("'; DROP")).toBe("_utf8mb4 X'273b2044524f50'");
  expect(textLiteral('')).toBe("_utf8mb4 X''");
  expect(identifier('a`b')).toBe('`a``b`');
});

test('reads what the client writes in batch mode', () => {
  expect(parseBatch('')).toEqual([]);
  expect(parseBatch('1\ta\\tb\n\t\\\\n\\n\n')).toEqual([
    ['1', 'a\tb'],
    ['', '\\n\n'],
  ]);
  expect(parseBatch('\n')).toEqual([['']]);
});
