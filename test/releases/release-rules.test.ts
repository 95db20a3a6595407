import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { isLater } from '../../src/lib/releases/version-order.ts';
import { releaseChanges, sectionOf } from '../../tools/release/changelog.ts';
import { neededPackages } from '../../tools/release/needed-packages.ts';
import {
  changedMigrations,
  checksumsOf,
  versionsWithData,
  withRelease,
} from '../../tools/release/released-migrations.ts';
import { developmentAfter, releaseAfter } from '../../tools/release/versions.ts';

const CHANGELOG =
  '# Changelog\n\n## [Unreleased]\n\n### Added\n\n- Doors, for $& and $1.\n\n## [0.3.0] - 2026-11-30\n\n- Walls.\n';

it('moves the unreleased changes below the heading of their version', () => {
  const released = releaseChanges(CHANGELOG, { version: '0.4.0', date: '2026-12-01' });
  expect(sectionOf(released, 'Unreleased').trim()).toBe('');
  expect(sectionOf(released, '0.4.0')).toBe('\n### Added\n\n- Doors, for $& and $1.\n\n');
  expect(sectionOf(released, '0.3.0')).toBe('\n- Walls.\n');
  expect(() => releaseChanges(released, { version: '0.5.0', date: '2026-12-02' })).toThrow(
    'nothing to release',
  );
  expect(() => sectionOf(released, '0.9.0')).toThrow('no heading for 0.9.0');
});

it('releases the version that development leads to, and goes on with the next', () => {
  expect(releaseAfter('0.4.0-dev')).toBe('0.4.0');
  expect(() => releaseAfter('0.4.0')).toThrow('which is a release');
  expect(() => releaseAfter('0.4')).toThrow('no version');
  expect(developmentAfter('0.9.3')).toBe('0.10.0-dev');
  expect(isLater('0.10.0-dev', '0.9.3')).toBe(true);
  expect(isLater('0.4.0', '0.4.0-dev')).toBe(true);
  expect(isLater('0.4.0-dev', '0.4.0')).toBe(false);
  expect(isLater('0.4.0', '0.4.0')).toBe(false);
});

it('gives each migration to the version that brought it, and finds those that changed since', () => {
  const first = checksumsOf({ '0001-a': ['create a'] });
  const second = checksumsOf({ '0001-a': ['create a'], '0002-b': ['create b'] });
  const released = withRelease(withRelease({}, '0.3.0', first), '0.4.0', second);
  expect(Object.keys(released['0.4.0'] ?? {})).toEqual(['0002-b']);
  expect(changedMigrations(released, second)).toEqual([]);
  const edited = checksumsOf({ '0001-a': ['create a, but wider'], '0002-b': ['create b'] });
  expect(changedMigrations(released, edited)).toEqual([
    '0001-a was released with 0.3.0 and has changed since. Write a new migration instead.',
  ]);
  expect(changedMigrations(released, first)).toHaveLength(1);
});

it('upgrades the data of earlier versions while it makes that of a release', () => {
  const released = withRelease({ '0.3.0': {}, '0.4.0': {} }, '0.5.0', {});
  expect(versionsWithData(released, '0.5.0')).toEqual(['0.3.0', '0.4.0']);
  expect(versionsWithData(released, '')).toEqual(['0.3.0', '0.4.0', '0.5.0']);
});

it('publishes the packages that run, and not those that build the portal or test', () => {
  const root = join(import.meta.dirname, '../..');
  const needed = neededPackages(root);
  const names = [
    'fastify',
    'better-sqlite3',
    'pg',
    'wp-studio',
    '@php-wasm/node-8-4',
    `node-linux-${process.arch}`,
  ];
  for (const name of names) expect(needed, name).toContain(`node_modules/${name}`);
  for (const name of ['vite', 'rolldown', 'react', 'vitest', 'typescript']) {
    expect(needed, name).not.toContain(`node_modules/${name}`);
  }
  // A dependency of a package.
  expect(needed).toContain('node_modules/pg-protocol');
  expect([...needed].filter((folder) => existsSync(join(root, folder))).length).toBeGreaterThan(100);
});
