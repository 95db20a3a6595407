import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, test } from 'vitest';
import { CommandError } from '../../../lib/run-command.ts';
import { missingExtensions } from './php-extensions.ts';
import { modulesIn } from './php-modules.ts';
import {
  completingCommand,
  findPhpRuntimes,
  isComplete,
  missingModules,
  preferredRuntime,
  shortcoming,
} from './php-runtimes.ts';

/** Everything that is required. */
const EXTENSIONS = missingExtensions([]);

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'php-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const machine = () => join(folder, 'machine');
const phpRoots = () => join(folder, 'roots');
const found = (ask: Parameters<typeof findPhpRuntimes>[2] = async () => EXTENSIONS) =>
  findPhpRuntimes({ phpRoots: phpRoots() }, machine(), ask);
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

  it('are incomplete without an extension that WordPress or the object cache needs', async () => {
    await provide(machine(), '8.2');
    const [runtime] = await found(async () => EXTENSIONS.filter((name) => name !== 'redis' && name !== 'gd'));
    expect(runtime && [isComplete(runtime), missingModules(runtime), shortcoming(runtime)]).toEqual([
      ...[false, ['gd', 'redis'], 'lacks gd, redis'],
    ]);
    const [whole] = await found(async () => EXTENSIONS);
    expect(whole && isComplete(whole)).toBe(true);
  });

  it('are incomplete if the program does not start', async () => {
    await provide(machine(), '8.2');
    const [runtime] = await found(async () => {
      throw new CommandError('failed', { status: 127, stdout: '', stderr: 'libcurl.so.4: missing\nmore' });
    });
    expect(runtime && [isComplete(runtime), shortcoming(runtime)]).toEqual([
      ...[false, 'does not start: libcurl.so.4: missing'],
    ]);
  });

  it('name the command that completes them, on the machine and in the root of another Debian', async () => {
    await provide(machine(), '8.2');
    await provide(join(phpRoots(), '8.4'), '8.4');
    const lacking = await found(async () =>
      EXTENSIONS.filter((name) => name !== 'redis' && name !== 'mysqli'),
    );
    const commands = lacking.map((runtime) =>
      completingCommand(runtime.version === '8.2' ? { ...runtime, root: '/' } : runtime),
    );
    expect(commands).toEqual([
      `chroot ${join(phpRoots(), '8.4')} apt-get install --no-install-recommends php8.4-mysql php8.4-redis`,
      'homeport host php add 8.2',
    ]);
  });

  it('are preferred if they are complete, even if others are newer', async () => {
    for (const version of ['8.2', '8.3', '8.4']) await provide(machine(), version);
    const all = await found(async ({ version }) => (version === '8.4' ? [] : EXTENSIONS));
    expect(preferredRuntime(all)?.version).toBe('8.3');
    expect(preferredRuntime(all.filter(({ version }) => version === '8.4'))?.version).toBe('8.4');
  });
});

test("php's list of modules is read by the names of its settings", () => {
  const output = '[PHP Modules]\nSimpleXML\nmysqli\nZend OPcache\n\n[Zend Modules]\nZend OPcache\n\n';
  expect(modulesIn(output)).toEqual(['mysqli', 'opcache', 'simplexml']);
});
