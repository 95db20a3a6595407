import { once } from 'node:events';
import { chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { RunningMachine } from '../../src/app/linux-host.ts';
import { linuxLayout } from '../../src/hosting/linux/machine/layout.ts';
import { findPhpRuntimes, type PhpRuntime } from '../../src/hosting/linux/machine/php-runtimes.ts';
import { connectHost } from '../../src/hosting/remote/client.ts';
import { runCommand } from '../../src/lib/run-command.ts';
import { text } from '../client.ts';
import { visit } from '../edge.ts';
import { installName, type Person, startTestHomeport, type TestHomeport } from '../homeport.ts';
import type { TestMachine } from './machine.ts';
import { createPreparedMachine } from './prepared.ts';
import { startKilledHost } from './start-killed-host.ts';
import { plainState } from './state.ts';

/** The machine's PHP under another version: a root whose programs start it with their own settings. */
const OTHER = '8.99';

let machine: TestMachine;
let running: RunningMachine;
let homeport: TestHomeport;
let owner: Person;
let own: PhpRuntime;
let root: string;

beforeAll(async () => {
  machine = await createPreparedMachine({}, { ownCores: true });
  const { phpRoots } = linuxLayout(machine.folder, machine.runFolder);
  const [newest] = await findPhpRuntimes({ phpRoots });
  if (newest === undefined) throw new Error('this machine has no PHP');
  own = newest;
  root = join(phpRoots, OTHER);
  for (const folder of ['usr', 'etc/php', 'programs/sbin', 'programs/bin']) {
    await mkdir(join(root, folder), { recursive: true });
  }
  await runCommand('cp', ['-rL', `/etc/php/${own.version}`, join(root, 'etc/php', OTHER)]);
  const settings = `/etc/php/${OTHER}/fpm`;
  const start = (program: string) =>
    `#!/bin/sh\nPHP_INI_SCAN_DIR=${settings}/conf.d exec ${program} -c ${settings}/php.ini "$@"\n`;
  await provide(`sbin/php-fpm${OTHER}`, start(own.fpm));
  await provide(`bin/php${OTHER}`, start(own.cli));
  const lower = `lowerdir=${join(root, 'programs')}:/usr`;
  await runCommand('mount', ['-t', 'overlay', 'overlay', '-o', lower, join(root, 'usr')]);
  await setting('');
  running = await machine.start();
  homeport = await startTestHomeport({ environment: machine.environment });
  ({ owner } = await homeport.ownedAccount());
});
afterAll(async () => {
  await homeport?.remove();
  await running?.stop().catch(() => {});
  await runCommand('umount', ['--lazy', join(root, 'usr')]).catch(() => {});
  await machine?.remove();
});

async function provide(path: string, script: string): Promise<void> {
  const file = join(root, 'programs', path);
  await writeFile(file, script);
  await chmod(file, 0o755);
}

/** Gives the other PHP a setting that tells it apart, and this one. */
const setting = (line: string) =>
  writeFile(join(root, 'etc/php', OTHER, 'fpm/conf.d/99-test.ini'), `homeport.test = other\n${line}\n`);

const broken = () =>
  Promise.all([
    setting(`auto_prepend_file = /etc/php/${OTHER}/broken.php`),
    writeFile(join(root, 'etc/php', OTHER, 'broken.php'), '<?php throw new Error("not with this version");'),
  ]);

async function page(name: string, path = '/'): Promise<{ status: number; body: string }> {
  const { edgeHttp, edgeHttps, sshListen } = machine.config;
  const hosting = { edgeHttp, edgeHttps, ssh: sshListen };
  return visit({ hosting }, `http://${name}.sites.test${path}`);
}

/** The PHP version that answers visitors. */
async function answering({ id, name }: { id: string; name: string }): Promise<string> {
  const htdocs = linuxLayout(machine.folder, machine.runFolder).htdocsOf(id);
  await writeFile(join(htdocs, 'which.php'), '<?php echo get_cfg_var("homeport.test") ?: "own";');
  return (await page(name, `/which.php?${crypto.randomUUID()}`)).body;
}

test('a switch by the API shows its progress, and the version that really runs', async () => {
  const { body: accounts } = await owner.client.get('/accounts');
  const name = installName();
  const account_id = text(accounts, 'results', 0, 'id');
  const made = await owner.client.post('/installs', { name, account_id, php_version: own.version });
  const id = text(made.body, 'id');
  await homeport.idle();
  const patch = (php_version: unknown) => owner.client.patch(`/installs/${id}`, { php_version });
  for (const wrong of ['5.2', null, '8']) {
    expect(await patch(wrong)).toMatchObject({ status: 400, body: { errors: [{ field: 'php_version' }] } });
  }
  const same = await patch(own.version);
  expect([same.status, same.headers.location]).toEqual([200, undefined]);

  await broken();
  const refused = await patch(OTHER);
  expect(refused.body).toMatchObject({ php_version: own.version });
  await homeport.idle();
  const operationOf = async (location: unknown) =>
    (await owner.client.get(String(location).replace('/v1', ''))).body;
  expect(await operationOf(refused.headers.location)).toMatchObject({
    kind: 'install.update_php',
    status: 'failed',
    error: {
      message: expect.stringContaining(
        `${name} stays on PHP ${own.version}, because with PHP ${OTHER} WordPress does not start: Uncaught Error: not with this version in broken.php:1`,
      ),
    },
  });
  expect((await owner.client.get(`/installs/${id}`)).body).toMatchObject({ php_version: own.version });
  expect([await answering({ id, name }), (await page(name)).status]).toEqual(['own', 200]);

  await setting('');
  const asked = await patch(OTHER);
  await homeport.idle();
  expect(await operationOf(asked.headers.location)).toMatchObject({
    status: 'succeeded',
    error: null,
    result: { version: OTHER },
  });
  expect((await owner.client.get(`/installs/${id}`)).body).toMatchObject({ php_version: OTHER });
  expect([await answering({ id, name }), (await page(name)).status]).toEqual(['other', 200]);
});

test('a host killed in the middle starts with the former PHP, and switches at the next attempt', async () => {
  const install = plainState('halfway');
  await running.host.apply({ ...install, phpVersion: own.version });
  await running.stop();
  const killed = once(await startKilledHost(machine, 'php switched'), 'exit');
  const remote = connectHost({ name: 'test', socket: `${machine.runFolder}/host.sock` });
  await expect(remote.apply({ ...install, phpVersion: OTHER })).rejects.toThrow();
  await remote.close();
  await killed;

  running = await machine.start();
  expect([await answering(install), (await page(install.name)).status]).toEqual(['own', 200]);
  expect(await running.host.apply({ ...install, phpVersion: OTHER })).toMatchObject({ phpVersion: OTHER });
  expect(await answering(install)).toBe('other');
});

test('a PHP that loses extensions is no default, is not offered, and its installs are named', async () => {
  const kept = plainState('kept');
  await running.host.apply({ ...kept, phpVersion: OTHER });
  expect((await running.host.describe()).phpVersions).toEqual([OTHER, own.version]);

  const extension = join(root, 'etc/php', OTHER, 'fpm/conf.d/20-redis.ini');
  const text = await readFile(extension, 'utf8');
  // The settings still name it, but the file is missing, as after a failed upgrade.
  await writeFile(extension, 'extension=redis-of-another-build.so\n');
  await rm(join(root, 'etc/php', OTHER, 'fpm/conf.d/99-test.ini'));
  try {
    expect((await running.host.describe()).phpVersions).toEqual([own.version]);
    const install = plainState('defaulted');
    expect(await running.host.apply({ ...install, phpVersion: null })).toMatchObject({
      phpVersion: own.version,
    });
    expect(await running.host.apply({ ...kept, phpVersion: OTHER })).toMatchObject({ phpVersion: OTHER });
    const found = await running.host.inspect([kept, install], false);
    expect(found).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          thing: `PHP ${OTHER}`,
          message: expect.stringMatching(/^It lacks redis, so it is not offered to installs\. .*\bkept\b/),
          remedy: expect.stringContaining(`php${OTHER}-redis`),
        }),
        expect.objectContaining({
          thing: 'install kept: object cache',
          message: `It has no object cache, because PHP ${OTHER} lacks redis.`,
        }),
      ]),
    );
    expect(found.map(({ thing }) => thing)).not.toContain('install defaulted: object cache');
  } finally {
    await writeFile(extension, text);
    await setting('');
  }
  expect((await running.host.describe()).phpVersions).toEqual([OTHER, own.version]);
});
