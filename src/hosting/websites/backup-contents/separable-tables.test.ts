import { expect, test } from 'vitest';
import { RefusedRestoreError } from '../../contract/errors.ts';
import { type DatabaseTables, requireSeparable } from './separable-tables.ts';

const of = (prefix: string, keys: string[][] = []): DatabaseTables => ({
  tables: ['options', 'posts', 'users', 'usermeta', 'orders'].map((name) => prefix + name),
  keys,
});
const [from, to] = [of('wp_'), of('wp_')];

test('tables that both databases have can be replaced alone, and so can new ones', () => {
  requireSeparable(['wp_posts', 'wp_orders'], { from, to }, false);
  requireSeparable(['wp_orders'], { from, to: { ...to, tables: to.tables.slice(0, -1) } }, false);
  requireSeparable(['wp_new'], { from, to }, true);
});

test.each([
  [['wp_none', 'wp_posts'], { from, to }, 'The database has no table "wp_none".'],
  [['sqlite_sequence'], { from, to }, 'The database has no table "sqlite_sequence".'],
  [['wp_posts'], { from, to: of('shop_') }, 'The tables of the website begin with "shop_"'],
  [
    ['wp_posts'],
    { from: of('wp_', [['wp_orders', 'wp_posts']]), to },
    'A foreign key connects the tables "wp_orders" and "wp_posts".',
  ],
  [
    ['wp_orders'],
    { from, to: of('wp_', [['wp_orders', 'wp_posts']]) },
    'A foreign key connects the tables "wp_orders" and "wp_posts".',
  ],
])('%j are refused alone', (chosen, databases, reason) => {
  const judged = () => requireSeparable(chosen, databases, false);
  expect(judged).toThrow(RefusedRestoreError);
  expect(judged).toThrow(reason);
});

test('tables that a foreign key connects can be replaced together', () => {
  const keys = [['wp_orders', 'wp_posts']];
  requireSeparable(['wp_orders', 'wp_posts'], { from: of('wp_', keys), to: of('wp_', keys) }, false);
});
