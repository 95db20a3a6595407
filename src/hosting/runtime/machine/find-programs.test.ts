import { chmod, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { findPrograms } from './find-programs.ts';

test('finds PHP-FPM with the command line of its version, the preferred one first', async () => {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'php-programs-')));
  for (const name of ['php-fpm91.2', 'php91.2', 'php-fpm91.10', 'php91.10', 'php-fpm92.0']) {
    await writeFile(join(folder, name), '');
    await chmod(join(folder, name), 0o755);
  }
  const found = (preferred?: string) =>
    findPrograms(folder, preferred)
      .filter(({ fpm }) => fpm.startsWith(folder))
      .map(({ fpm, cli }) => [basename(fpm), basename(cli)]);
  const [older, newer] = [
    ['php-fpm91.2', 'php91.2'],
    ['php-fpm91.10', 'php91.10'],
  ];
  expect(found()).toEqual([newer, older]);
  expect(found('91.2')).toEqual([older, newer]);
  expect(found('92.0')).toEqual([newer, older]);
  await rm(folder, { recursive: true });
});
