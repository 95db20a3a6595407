import { expect, test } from 'vitest';
import { databaseName, databaseUser, grantedDatabase, identifier, parseBatch, textLiteral } from './sql.ts';

test('quotes database names, and escapes the wildcard for GRANT', () => {
  expect(databaseName('hp_a_1')).toBe('`hp_a_1`');
  expect(grantedDatabase('hp_a_1')).toBe('`hp\\_a\\_1`');
  for (const name of ['a', 'hp_', 'HP_A', 'hp_a-b', 'hp_`', 'hp_a\n', `hp_${'a'.repeat(51)}`]) {
    expect(() => databaseName(name)).toThrow('cannot be the name of a database');
  }
});

test('accepts Unix users of installs, and no system users', () => {
  expect(databaseUser('shop-1')).toBe('`shop-1`@`localhost`');
  for (const name of ['root', 'mysql', 'a', '-a', 'a-', '1a', 'a_b', 'a`b', 'x'.repeat(41)]) {
    expect(() => databaseUser(name)).toThrow('cannot be the name of a user');
  }
});

test('quotes texts and identifiers safely', () => {
  expect(textLiteral("'; DROP")).toBe("_utf8mb4 X'273b2044524f50'");
  expect(textLiteral('')).toBe("_utf8mb4 X''");
  expect(identifier('a`b')).toBe('`a``b`');
});

test('parses the client’s batch output', () => {
  expect(parseBatch('')).toEqual([]);
  expect(parseBatch('1\ta\\tb\n\t\\\\n\\n\n')).toEqual([
    ['1', 'a\tb'],
    ['', '\\n\n'],
  ]);
  expect(parseBatch('\n')).toEqual([['']]);
});
