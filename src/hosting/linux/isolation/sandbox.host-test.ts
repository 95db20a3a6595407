import { randomUUID } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { runCommand } from '../../../lib/run-command.ts';
import { runScript } from '../../runtime/linux/run-php.ts';
import { type LinuxLayout, linuxLayout } from '../machine/layout.ts';
import { findPhpRuntimes } from '../machine/php-runtimes.ts';
import { makeHome } from './folders.ts';
import { asUser, type SandboxedInstall, type SandboxOptions, sandboxCommand } from './sandbox.ts';

const UID = 391_500;

let layout: LinuxLayout;
let install: SandboxedInstall;

beforeAll(async () => {
  layout = linuxLayout(await mkdtemp('/srv/hpt-sandbox-'), await mkdtemp('/run/hpt-sandbox-'));
  for (const folder of [layout.folder, layout.runFolder]) await chmod(folder, 0o711);
  await mkdir(layout.coreOf('6.8.7'), { recursive: true });
  await mkdir(layout.mariadbRun);
  const [php] = await findPhpRuntimes(layout);
  if (!php) throw new Error('this machine has no PHP-FPM');
  install = { id: randomUUID(), name: 'shop', uid: UID, gid: UID, php, wordpressVersion: '6.8.7' };
  await makeHome(layout, install);
});
afterAll(async () => {
  for (const folder of [layout.folder, layout.runFolder]) await rm(folder, { recursive: true, force: true });
});

async function run(command: [string, ...string[]], options: SandboxOptions = {}): Promise<string> {
  const [program, ...args] = sandboxCommand(layout, install, command, options);
  return (await runCommand(program, args)).stdout;
}

/** Ids of the processes of a user that have not ended. */
async function processesOf(uid: number): Promise<string[]> {
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    ids.map(async (id) => ({
      id,
      status: await readFile(join('/proc', id, 'status'), 'utf8').catch(() => ''),
    })),
  );
  return found
    .filter(({ status }) => status.includes(`\nUid:\t${uid}\t`) && !/^State:\tZ/m.test(status))
    .map(({ id }) => id);
}

describe('a sandbox', () => {
  it('runs a program as the install in its home, with unchanged arguments', async () => {
    expect(await run(['/bin/pwd'])).toBe(`${layout.homeOf(install.id)}\n`);
    expect(await run(['/usr/bin/id'])).toBe(`uid=${UID}(shop) gid=${UID}(shop) groups=${UID}(shop)\n`);
    expect(await run(['/bin/echo', '$HOME; `id`', '"'])).toBe('$HOME; `id` "\n');
    expect(await run(['/bin/hostname'])).toBe('shop\n');
  });

  it('is the same if the caller already runs as the install', async () => {
    const [program, ...args] = asUser(
      install,
      sandboxCommand(layout, install, ['/usr/bin/id', '-u'], { user: 'already' }),
    );
    expect((await runCommand(program, args)).stdout).toBe(`${UID}\n`);
  });

  it('returns the exit status and the output', async () => {
    const failing = run(['/bin/sh', '-c', 'echo said; echo why >&2; exit 3']);
    await expect(failing).rejects.toMatchObject({ status: 3, stdout: 'said\n', stderr: 'why\n' });
  });

  it('passes standard input on', async () => {
    const [program, ...args] = sandboxCommand(layout, install, ['/usr/bin/php', '--', 'x']);
    const { stdout } = await runCommand(program, args, { input: '<?php echo $argv[1], getenv("USER");' });
    expect(stdout).toBe('xshop');
  });

  it('can write as the install to its home, and to a temporary folder', async () => {
    await run([
      '/bin/sh',
      '-c',
      'echo a > htdocs/a; echo b > private/b; echo c > /tmp/c; echo d > /var/tmp/d',
    ]);
    expect(await run(['/bin/ls', 'htdocs', 'private', '/tmp'])).toBe('/tmp:\n\nhtdocs:\na\n\nprivate:\nb\n');
    await expect(run(['/usr/bin/touch', join(layout.homeOf(install.id), 'new')])).rejects.toThrow('denied');
  });

  it('shows additional folders read-only', async () => {
    await mkdir(layout.scripts);
    await writeFile(join(layout.scripts, 'task.php'), '<?php echo "done";');
    const script = join(layout.scripts, 'task.php');
    await chmod(script, 0o666);
    expect(await run(['php', script], { readOnly: [layout.scripts] })).toBe('done');
    await expect(run(['php', script])).rejects.toThrow();
    const write = run(['/usr/bin/touch', script], { readOnly: [layout.scripts] });
    await expect(write).rejects.toThrow('Read-only');
  });

  it('has the machine’s certificates and time, but its own user names', async () => {
    const check =
      'echo is_readable("/etc/ssl/certs") ? 1 : 0, gethostbyname("shop"), gethostbyname("localhost");';
    expect(await run(['php', '-r', check])).toBe('1127.0.0.1127.0.0.1');
  });

  it('refuses a file larger than the limit, and the writing program goes on', async () => {
    const limited = { ...layout, limits: { bytes: 1024 * 1024, files: null } };
    const [program, ...args] = sandboxCommand(limited, install, [
      '/bin/sh',
      '-c',
      "truncate -s 64G htdocs/sparse; head -c 2000000 /dev/zero > htdocs/full; php -r \"var_dump(@ftruncate(fopen('htdocs/php', 'w'), 1 << 36));\"; stat -c %s htdocs/*",
    ]);
    const { stdout, stderr } = await runCommand(program, args);
    expect(stderr).toMatch(/truncate: .*File too large/);
    expect(stderr).toMatch(/head: .*File too large/);
    expect(stdout).toContain('bool(false)');
    expect(
      stdout
        .trim()
        .split('\n')
        .map(Number)
        .every((size) => !(size > 1024 * 1024)),
    ).toBe(true);
  });

  it('leaves no process behind if it is aborted at any moment of its start', async () => {
    const script = join(layout.homeOf(install.id), 'htdocs', 'sleep.php');
    await writeFile(script, '<?php sleep(600);');
    for (let round = 0; round < 50; round++) {
      const caller = new AbortController();
      const running = runScript(layout, install, { script, signal: caller.signal }).catch(() => 'aborted');
      await pause(round % 25);
      caller.abort();
      expect(await running).toBe('aborted');
    }
    await vi.waitFor(async () => expect(await processesOf(UID)).toEqual([]), { timeout: 10_000 });
  });

  it('names a missing path', async () => {
    install = { ...install, wordpressVersion: '1.2.3' };
    await expect(run(['/bin/true'])).rejects.toThrow(layout.coreOf('1.2.3'));
    install = { ...install, wordpressVersion: '6.8.7' };
  });
});
