import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import Type from 'typebox';
import { Value } from 'typebox/value';
import { expect, test } from 'vitest';
import { compareVersions } from '../policy/wordpress-version.ts';
import { checkCore } from './core-tree.ts';
import { requirePackagedFiles } from './packaged-files.ts';

const root = new URL('../../../', import.meta.url);
const read = async (name: string): Promise<unknown> =>
  JSON.parse(await readFile(new URL(name, root), 'utf8'));
const files = requirePackagedFiles();

const PackageFile = Type.Object({ wordpress: Type.String() });
const Lock = Type.Object({
  packages: Type.Record(Type.String(), Type.Record(Type.String(), Type.Unknown())),
});

/** 7.1 is followed by 7.2, and 6.9 by 7.0. */
const minorOf = (version: string): number => {
  const [major = '0', minor = '0'] = version.split('.');
  return Number(major) * 10 + Number(minor);
};

test('the packaged WordPress is a release, and at most one minor release behind the one that package.json names', async () => {
  const { wordpress } = Value.Parse(PackageFile, await read('package.json'));
  const packaged = await checkCore(files.wordpress);
  // Raise wp-studio, and "wordpress" with it. docs/dependencies.md says how.
  expect(minorOf(wordpress) - minorOf(packaged)).toBeLessThanOrEqual(1);
  expect(compareVersions(packaged, wordpress)).toBeLessThanOrEqual(0);
});

test('the package is installed alone, with any Node', async () => {
  const { packages } = Value.Parse(Lock, await read('package-lock.json'));
  // npm trusts the lock file. Remove what it adds: the files need neither the program nor its dependencies, nor its version of Node.
  expect(Object.keys(packages['node_modules/wp-studio'] ?? {}).sort()).toEqual([
    'integrity',
    'license',
    'optional',
    'version',
  ]);
});

test('the package has the SQLite plugin and WP-CLI', async () => {
  expect(await readFile(join(files.sqlitePlugin, 'load.php'), 'utf8')).toContain(
    'SQLite Database Integration',
  );
  for (const name of ['Export.php', 'Import.php']) {
    const code = await readFile(join(files.sqliteCommand, 'src', name), 'utf8');
    expect(code).toContain('namespace Automattic\\WP_CLI\\SQLite');
  }
  expect((await readFile(files.wpCli)).subarray(0, 2).toString()).toBe('#!');
});
