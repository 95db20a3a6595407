import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

/**
 * Calls that begin or run a Kysely query. The layer check sees imports only, and `queries` is passed around without one.
 */
const QUERY =
  /\.(selectFrom|insertInto|updateTable|deleteFrom|mergeInto|executeTakeFirst(OrThrow)?)\(|\.execute\(\)/;

const STORE = /(^|[/\\-])store\.ts$/;
const TEST = /[.-](test|fixture)\.ts$/;

/** The files of the features that are neither stores nor tests. */
const others = globSync('**/*.ts', { cwd: import.meta.dirname }).filter(
  (path) => !STORE.test(path) && !TEST.test(path),
);

it('finds the files', () => {
  expect(others).toContain(join('domains', 'domains', 'service.ts'));
  expect(others).not.toContain(join('domains', 'domains', 'store.ts'));
  expect(others).not.toContain(join('domains', 'domains', 'states-store.ts'));
});

it('allows queries in stores only (docs/architecture.md)', () => {
  const found = others.filter((path) => QUERY.test(readFileSync(join(import.meta.dirname, path), 'utf8')));
  expect(found).toEqual([]);
});
