import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

/** What begins or runs a query of Kysely's. The layers see imports alone, and `queries` is handed around without one. */
const QUERY =
  /\.(selectFrom|insertInto|updateTable|deleteFrom|mergeInto|executeTakeFirst(OrThrow)?)\(|\.execute\(\)/;

const STORE = /(^|[/\\-])store\.ts$/;
const TEST = /[.-](test|fixture)\.ts$/;

/** The files of the resources that are neither a store nor a test. */
const others = globSync('**/*.ts', { cwd: import.meta.dirname }).filter(
  (path) => !STORE.test(path) && !TEST.test(path),
);

it('finds the files', () => {
  expect(others).toContain(join('domains', 'domains', 'service.ts'));
  expect(others).not.toContain(join('domains', 'domains', 'store.ts'));
  expect(others).not.toContain(join('domains', 'domains', 'states-store.ts'));
});

it('has queries in stores alone (docs/architecture.md)', () => {
  const found = others.filter((path) => QUERY.test(readFileSync(join(import.meta.dirname, path), 'utf8')));
  expect(found).toEqual([]);
});
