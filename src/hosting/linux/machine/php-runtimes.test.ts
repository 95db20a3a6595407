import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findPhpRuntimes, missingModules } from './php-runtimes.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'php-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const machine = () => join(folder, 'machine');
const phpRoots = () => join(folder, 'roots');
const found = () => findPhpRuntimes({ phpRoots: phpRoots() }, machine());
const versions = async () =>
  (await found()).map(({ version, root }) => `${version} ${root.slice(folder.length)}`);

async function provide(root: string, version: string, { cli = true }: { cli?: boolean } = {}): Promise<void> {
  await mkdir(join(root, 'usr/sbin'), { recursive: true });
  await mkdir(join(root, 'usr/bin'), { recursive: true });
  await writeFile(join(root, `usr/sbin/php-fpm${version}`), '', { mode: 0o755 });
  if (cli) await writeFile(join(root, `usr/bin/php${version}`), '', { mode: 0o755 });
}

describe('installed PHP versions', () => {
  it('are none on a machine without PHP', async () => {
    expect(await found()).toEqual([]);
  });

  it('are sorted by number, newest first', async () => {
    for (const version of ['8.2', '8.10', '7.4']) await provide(machine(), version);
    expect(await versions()).toEqual(['8.10 /machine', '8.2 /machine', '7.4 /machine']);
  });

  it('must have a command-line program too', async () => {
    await provide(machine(), '8.2');
    await provide(machine(), '8.3', { cli: false });
    expect(await versions()).toEqual(['8.2 /machine']);
  });

  it('include those of other Debians, under their version', async () => {
    await provide(machine(), '8.2');
    await provide(join(phpRoots(), '8.4'), '8.4');
    await provide(join(phpRoots(), '8.4'), '8.3');
    await provide(join(phpRoots(), '8.2'), '8.2');
    await mkdir(join(phpRoots(), '8.5'));
    expect(await versions()).toEqual(['8.4 /roots/8.4', '8.2 /machine']);
  });

  it('list their extensions, and the missing ones', async () => {
    await provide(machine(), '8.2');
    const settings = join(machine(), 'etc/php/8.2/fpm/conf.d');
    await mkdir(settings, { recursive: true });
    for (const name of ['10-opcache', '20-mysqli', '20-curl', '20-dom', '20-gd', '20-intl', '20-mbstring']) {
      await symlink('/absent', join(settings, `${name}.ini`));
    }
    await writeFile(join(settings, '20-zip.ini.bak'), '');
    const [runtime] = await found();
    expect(runtime?.modules).toEqual(['curl', 'dom', 'gd', 'intl', 'mbstring', 'mysqli', 'opcache']);
    expect(runtime && missingModules(runtime)).toEqual(['imagick', 'redis', 'zip']);
  });
});
