import { execFileSync } from 'node:child_process';
import {
  chmod,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rm,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { addToErrorLog } from '../../runtime/wasm/process/error-log.ts';
import { renderWpConfig } from '../../wordpress/site-config.ts';
import { copyLiveDatabase } from './database-copy.ts';
import { writeHostFiles } from './golden-copies.ts';
import { noteAddresses, notedAddresses } from './noted-addresses.ts';
import { takePurges } from './purge-requests.ts';

/** What an owner, a plugin or a restored backup can put in the place of each file that the host reads or writes in a website. */
const kinds: Record<string, (path: string) => Promise<unknown>> = {
  'an empty folder': (path) => mkdir(path),
  'a full folder': async (path) => {
    await mkdir(join(path, 'inner'), { recursive: true });
    await writeFile(join(path, 'inner/file'), 'x');
  },
  'a closed folder': async (path) => {
    await mkdir(join(path, 'inner'), { recursive: true });
    await chmod(join(path, 'inner'), 0);
    isClosed = true;
  },
  'a link to another website': (path) => symlink(other, path),
  'a link to a folder of another website': (path) => symlink(dirname(other), path),
  'a link to nothing': (path) => symlink('/nowhere', path),
  'a pipe': async (path) => execFileSync('mkfifo', [path]),
  'a huge file': async (path) => {
    await writeFile(path, '');
    await truncate(path, 1024 ** 4);
  },
};

let folder: string;
let files: string;
let other: string;
let isClosed = false;
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'replaced-')));
  files = join(folder, 'files');
  other = join(folder, 'other/file');
  for (const path of [join(files, '.private'), dirname(other)]) await mkdir(path, { recursive: true });
  await writeFile(other, 'of another website');
});
afterEach(async () => {
  // Nothing of another website has changed.
  expect(await readFile(other, 'utf8')).toBe('of another website');
  expect(await readdir(dirname(other))).toEqual(['file']);
  if (isClosed) execFileSync('chmod', ['-R', 'u+rwX', folder]);
  isClosed = false;
  await rm(folder, { recursive: true });
});

const inside = (name: string) => join(files, '.private', name);
const EVERYTHING = { everything: true };

describe.each(Object.entries(kinds))('%s', (kind, put) => {
  test('in the place of the purges counts as all of them, once', async () => {
    await put(inside('purges'));
    expect(await takePurges(join(files, '.private'))).toEqual(EVERYTHING);
    expect(await takePurges(join(files, '.private'))).toBeNull();
  });

  test('in the place of the purges that were taken hinders none', async () => {
    await put(inside('purges.taken'));
    for (const path of ['/one/', '/two/']) {
      await writeFile(inside('purges'), `${JSON.stringify({ paths: [path] })}\n`);
      expect(await takePurges(join(files, '.private'))).toEqual({ paths: [path] });
    }
    expect(await readdir(join(files, '.private'))).toEqual([]);
  });

  test('in the place of the addresses is read as none, and replaced', async () => {
    await put(inside('addresses.json'));
    expect(await notedAddresses(join(files, '.private'))).toEqual([]);
    await noteAddresses(join(files, '.private'), ['http://shop.test']);
    expect(await readFile(inside('addresses.json'), 'utf8')).toBe('["http://shop.test"]');
  });

  test.each([
    'wp-content',
    'wp-content/mu-plugins',
    'wp-content/db.php',
    'wp-content/mu-plugins/homeport.php',
    'wp-config.php',
  ])('in the place of %s stays, and stops no change of the website', async (name) => {
    const path = join(files, name);
    await mkdir(dirname(path), { recursive: true });
    await put(path);
    const before = await lstat(path);
    await writeHostFiles(files);
    expect((await lstat(path)).ino).toBe(before.ino);
    await writeHostFiles(files);
  });

  test.each(['php-error.log', 'php-error.log.1'])('in the place of %s blocks nothing', async (name) => {
    await put(inside(name));
    const write = () => addToErrorLog(inside('php-error.log'), 'line', new Date());
    // The next entry fails or is written, and neither waits.
    try {
      write();
    } catch (error) {
      expect(error).toHaveProperty('code');
    }
  });

  test('in the place of the database is not copied, and nothing waits for it', async () => {
    await mkdir(join(folder, 'database'));
    await put(join(folder, 'database/wordpress.sqlite'));
    if (kind === 'a huge file') return;
    const copied = copyLiveDatabase(join(folder, 'database/wordpress.sqlite'), join(folder, 'copy'), {
      pause: async () => {},
    });
    await expect(copied).rejects.toThrow();
  });
});

test('the configuration of an earlier host gets the line that WP-CLI writes above', async () => {
  const path = join(files, 'wp-config.php');
  const complete = renderWpConfig(() => 'secret', undefined, 'before');
  await writeFile(path, complete.replace("/* That's all, stop editing! Happy publishing. */\n\n", ''));
  await writeHostFiles(files);
  expect(await readFile(path, 'utf8')).toBe(complete);
});
