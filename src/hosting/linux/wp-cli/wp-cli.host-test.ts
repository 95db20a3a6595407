import { existsSync } from 'node:fs';
import { chmod, readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { rounds } from '../../../../test/rounds.ts';
import { runCommand } from '../../../lib/run-command.ts';
import type { WpCliResult } from '../../contract/wp-cli.ts';
import { NO_INPUT } from '../../wordpress/wp-cli/no-input.ts';
import { SANDBOX_COMPILED, type SandboxedInstall, sandboxCommand } from '../isolation/sandbox.ts';
import {
  startWordPress,
  startWordPressMachine,
  type WordPressMachine,
} from '../wordpress/machine.fixture.ts';
import { createWpCliPhar } from './phar.ts';
import { pharOf } from './programs.ts';
import { createWpCli } from './run-wp-cli.ts';
import { buildSmallPhar, servePhar } from './small-phar.fixture.ts';

const LIMITS = { memoryMb: 256, cpuPercent: 200, processes: 32 };

let machine: WordPressMachine;
let server: Awaited<ReturnType<typeof servePhar>>;
let install: SandboxedInstall;
let file: string;

beforeAll(async () => {
  machine = await startWordPressMachine();
  const { version, websites } = await startWordPress(machine);
  const made = await machine.newInstall(version);
  install = made.install;
  await websites.makeFiles(install, { primaryHostname: 'shop.test', secure: false, database: made.database });
  await websites.fillDatabase(install, made.database, {
    primaryHostname: 'shop.test',
    secure: false,
    title: 'Shop',
  });
  file = await buildSmallPhar(await machine.folder('built'));
  server = await servePhar(file);
});
afterAll(async () => {
  server?.close();
  await machine?.stop();
});

const phar = (source = 'official') =>
  createWpCliPhar({
    layout: machine.layout,
    source,
    url: server.url,
    php: async () => machine.php,
    log: machine.log,
  });

const runner = (withinMs?: number) =>
  createWpCli({
    layout: machine.layout,
    cgroups: machine.cgroups,
    limits: LIMITS,
    isThere: phar().isThere,
    ...(withinMs === undefined ? {} : { withinMs }),
  });

async function run(...args: string[]): Promise<WpCliResult> {
  const outcome = await runner().run(install, args);
  if ('refused' in outcome) throw new Error(outcome.reason);
  return outcome;
}

const eventually = (check: () => Promise<void>) => vi.waitFor(check, { timeout: 10_000 });
/** 0 also without the group. */
const processes = async () => (await machine.cgroups.usage(`wp-cli-${install.id}`))?.processes ?? 0;

describe('the phar', () => {
  it('is missing at first, and commands say so', async () => {
    expect(await phar().check()).toBe('It is missing.');
    expect(await phar('none').check()).toBeNull();
    expect(await runner().run(install, ['args'])).toMatchObject({
      refused: 'missing',
      reason: expect.stringContaining('Ask your provider'),
    });
  });

  it('must match its published checksum, and must be WP-CLI', async () => {
    const { sha512 } = server.served;
    server.served.sha512 = 'a'.repeat(128);
    await expect(phar().add(null)).rejects.toThrow('does not match its published checksum');
    server.served.sha512 = '';
    await expect(phar().add(null)).rejects.toThrow('contains no checksum');
    server.served.sha512 = sha512;
    const other = join(machine.layout.folder, 'other.phar');
    await expect(phar(other).add(null)).rejects.toThrow('is not a file');
    await expect(phar('elsewhere').add(null)).rejects.toThrow('is not a source of WP-CLI');
    await expect(phar('/etc/hostname').add(null)).rejects.toThrow('is not WP-CLI');
    expect(existsSync(pharOf(machine.layout))).toBe(false);
  });

  it('is fetched at the start of the host, belongs to root, and is replaced as a whole', async () => {
    const started = phar();
    await started.start();
    await eventually(async () => expect(await started.isThere()).toBe(true));
    await started.stop();
    const { uid, mode } = await stat(pharOf(machine.layout));
    expect([uid, mode & 0o777]).toEqual([0, 0o644]);
    // A file of this machine is there at the end of the start.
    await rm(pharOf(machine.layout));
    const local = phar(file);
    await local.start();
    expect(await local.isThere()).toBe(true);
    await local.stop();
    expect(await readFile(pharOf(machine.layout))).toEqual(server.served.content);
    expect(await phar(file).add(null)).toBe('9.9.9');
    expect(await phar().check()).toBeNull();
  });
});

describe('a command', () => {
  it('gets its arguments unchanged, and no process list shows them', async () => {
    const args = ['args', '--user_pass=secret word', '', '$(id)', 'two\nlines', 'é'];
    const { stdout, stderr, exitStatus } = await run(...args);
    expect(JSON.parse(stdout)).toEqual([`--path=${machine.layout.htdocsOf(install.id)}`, ...args]);
    expect([stderr, exitStatus]).toEqual(['', 0]);
    expect((await run('cmdline', 'secret')).stdout).not.toContain('secret');
  });

  it('runs in the website, as its user, with a memory limit below that of the cgroup', async () => {
    const { stdout } = await run('option', 'get', 'blogname');
    expect(stdout).toBe(`Shop ${install.uid} 192M`);
    expect(JSON.parse((await run('replace')).stdout)).toEqual([false, false]);
  });

  it('returns its exit status and its errors', async () => {
    expect(await run('fail')).toEqual({
      exitStatus: 3,
      stdout: '',
      stderr: 'Error: it failed\n',
      stdoutTruncated: false,
      stderrTruncated: false,
    });
    const hog = await run('hog');
    expect(hog.exitStatus).not.toBe(0);
    expect(hog.stderr).toContain('Allowed memory size');
  });

  it('has its output cut at 256 KiB, and is ended beyond 64 MB', async () => {
    const { stdout, stdoutTruncated } = await run('flood', '1000');
    expect(stdoutTruncated).toBe(true);
    expect(Buffer.byteLength(stdout)).toBeLessThanOrEqual(256 * 1024);
    expect(stdout).not.toContain('\ufffd');
    expect(await runner().run(install, ['flood', '100000'])).toMatchObject({ refused: 'output' });
    expect(await processes()).toBe(0);
  });

  it('is ended with all its processes at the time limit, and when the caller is gone', async () => {
    expect(await runner(1_000).run(install, ['sleep'])).toMatchObject({ refused: 'time' });
    expect(await processes()).toBe(0);
    // At any moment of the start, too.
    for (const isStarted of [false, false, false, true]) {
      const caller = new AbortController();
      const running = runner().run(install, ['sleep'], caller.signal);
      await eventually(async () => expect(await processes()).toBeGreaterThan(isStarted ? 1 : 0));
      caller.abort(new Error('gone'));
      await expect(running).rejects.toThrow('gone');
      expect(await processes()).toBe(0);
    }
  });

  it('is refused while the website is replaced', async () => {
    const cli = runner();
    await cli.whileRefused(install.id, async () => {
      expect(await cli.run(install, ['show'])).toMatchObject({ refused: 'website' });
    });
    expect(await cli.run(install, ['show'])).not.toHaveProperty('refused');
  });
});

describe('the real WP-CLI', () => {
  beforeAll(async () => {
    expect(await phar('packaged').add(null)).toMatch(/^\d+\.\d+\.\d+$/);
  });
  const inPrivate = () => readdir(machine.layout.privateOf(install.id));

  it('works in the private folder, where what it writes is not public', async () => {
    expect(await run('db', 'export', '--porcelain')).toMatchObject({ exitStatus: 0, stderr: '' });
    expect(await run('export')).toMatchObject({ exitStatus: 0, stdout: expect.stringContaining('All done') });
    expect(await inPrivate()).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^hp_.*\.sql$/),
        expect.stringMatching(/^shop\.wordpress\..*\.xml$/),
      ]),
    );
    const [dump = ''] = (await inPrivate()).filter((name) => name.endsWith('.sql'));
    expect((await run('db', 'import', dump)).stdout).toContain('Success: Imported');
  });

  it('works in the home if the owner has closed the private folder', async () => {
    const folder = machine.layout.privateOf(install.id);
    const { mode } = await stat(folder);
    await chmod(folder, 0);
    try {
      const code = 'echo getcwd();';
      const home = machine.layout.homeOf(install.id);
      const alone = ['eval', code, '--skip-wordpress'];
      expect(await run(...alone)).toMatchObject({ exitStatus: 0, stdout: home, stderr: '' });
      const shell = ['/bin/sh', '-c', 'wp "$@"', 'sh', ...alone] as const;
      const [program, ...args] = sandboxCommand(machine.layout, install, [...shell], { tools: true });
      expect(await runCommand(program, args)).toMatchObject({ stdout: home, stderr: '' });
    } finally {
      await chmod(folder, mode);
    }
  });

  it('reads the compiled WordPress', async () => {
    const { stdout } = await run(
      'eval',
      "echo ini_get('opcache.file_cache'), ' ', ini_get('opcache.enable_cli');",
    );
    expect(stdout).toBe(`${SANDBOX_COMPILED} 1`);
  });

  const ASKING = [
    ['site', 'empty'],
    ['eval-file', '-'],
    ['db', 'reset'],
    ['option', 'update', 'blogname'],
    ['post', 'create', '-'],
  ];
  it.each(ASKING.slice(0, rounds(2, ASKING.length)))(
    '%s %s fails, because it asks for input',
    async (...args) => {
      const { exitStatus, stderr } = await run(...args);
      expect([exitStatus, stderr]).toEqual([1, expect.stringContaining(NO_INPUT)]);
      expect((await run('option', 'get', 'blogname')).stdout).toBe('Shop\n');
    },
  );

  it('asks the database, and confirms with --yes', async () => {
    expect((await run('db', 'query', 'SELECT 40 + 2')).stdout).toContain('42');
    expect(await run('site', 'empty', '--yes')).toMatchObject({ exitStatus: 0 });
  });
});
