import { mkdir, readdir, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { temporaryFolder } from '../../../../test/database.ts';
import { linuxFiles } from '../../runtime/linux/linux-runtime.ts';
import { newestFatals } from '../../websites/probe/website-scripts.ts';
import { linuxLayout } from '../machine/layout.ts';
import { rotateErrorLog } from './error-log.ts';

const install = { id: '0b6f3c1a-8d52-4f7e-9a10-2c3d4e5f6071' };
const MOST = 16 * 1024 * 1024;

let place: ReturnType<typeof temporaryFolder>;
let layout: ReturnType<typeof linuxLayout>;
let folder: string;
beforeEach(async () => {
  place = temporaryFolder();
  layout = linuxLayout(place.path, place.path);
  folder = layout.privateOf(install.id);
  await mkdir(folder, { recursive: true });
});
afterEach(() => place.remove());

const log = () => join(folder, 'php-error.log');

async function write(size: number): Promise<void> {
  await writeFile(log(), '');
  await truncate(log(), size);
}

test('a large error log makes room for a new one, and one earlier is kept', async () => {
  await rotateErrorLog(layout, install);
  await write(MOST);
  await rotateErrorLog(layout, install);
  expect(await readdir(folder)).toEqual(['php-error.log']);
  for (let turn = 1; turn <= 2; turn++) {
    await write(MOST + 1);
    await rotateErrorLog(layout, install);
    expect(await readdir(folder)).toEqual(['php-error.log.1']);
  }
});

test('a link in its place stays as it is', async () => {
  const target = join(place.path, 'other');
  await writeFile(target, '');
  await truncate(target, MOST + 1);
  await symlink(target, log());
  await rotateErrorLog(layout, install);
  expect(await readdir(folder)).toEqual(['php-error.log']);
});

test('the newest fatal errors keep their file and line, and lose their time and trace', async () => {
  const at = (message: string) => `[27-Nov-2026 18:00:00 UTC] ${message}\n`;
  await writeFile(
    log(),
    at('PHP Warning:  old in /srv/htdocs/wp-content/a.php on line 1') +
      at(`PHP Fatal error:  Uncaught Error: ${'x'.repeat(900)} in /srv/htdocs/wp-content/plugins/a/a.php:7`) +
      'Stack trace:\n#0 {main}\n',
  );
  expect(await newestFatals(linuxFiles(layout, install))).toEqual([
    expect.stringMatching(/^Uncaught Error: x+…x+ in wp-content\/plugins\/a\/a\.php:7$/),
  ]);
});
