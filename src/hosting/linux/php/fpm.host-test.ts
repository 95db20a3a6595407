import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { askFastcgi } from '../../../lib/fastcgi.ts';
import { runCommand } from '../../../lib/run-command.ts';
import { sendSignal } from '../daemons/leftovers.ts';
import { makeHome } from '../isolation/folders.ts';
import { type SandboxedInstall, sandboxCommand } from '../isolation/sandbox.ts';
import type { DaemonSpec } from '../machine/daemon.ts';
import { type LinuxLayout, linuxLayout } from '../machine/layout.ts';
import { findPhpRuntimes, missingModules, type PhpRuntime } from '../machine/php-runtimes.ts';
import { fpmSpec, writeFpmFiles } from './fpm.ts';

const UID = 391_600;
const limits = { memoryMb: 512, cpuPercent: 100, processes: 64 };

let layout: LinuxLayout;
let php: PhpRuntime;
const running: ChildProcess[] = [];

beforeAll(async () => {
  layout = linuxLayout(await mkdtemp('/srv/hpt-fpm-'), await mkdtemp('/run/hpt-fpm-'));
  for (const folder of [layout.folder, layout.runFolder]) await chmod(folder, 0o711);
  await mkdir(layout.coreOf('6.8.7'), { recursive: true });
  await mkdir(layout.mariadbRun);
  const [newest] = await findPhpRuntimes(layout);
  if (!newest) throw new Error('this machine has no PHP-FPM');
  php = newest;
});
afterEach(async () => {
  for (const child of running.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
});
afterAll(async () => {
  for (const folder of [layout.folder, layout.runFolder]) await rm(folder, { recursive: true, force: true });
});

async function newInstall(): Promise<SandboxedInstall> {
  const install = { id: randomUUID(), name: 'shop', uid: UID, gid: UID, php, wordpressVersion: '6.8.7' };
  await makeHome(layout, install);
  return install;
}

async function started(install: SandboxedInstall): Promise<{ spec: DaemonSpec; child: ChildProcess }> {
  const options = { layout, install, limits };
  await writeFpmFiles(options);
  const spec = fpmSpec(options);
  const [program, ...args] = spec.command;
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], env: { PATH: '/usr/bin' } });
  running.push(child);
  let written = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    written += chunk.toString();
  });
  for (let tries = 0; tries < 1_000; tries += 1) {
    if (child.exitCode !== null) break;
    const ready = await spec.ready().then(
      () => true,
      () => false,
    );
    if (ready) return { spec, child };
    await pause(20);
  }
  throw new Error(`PHP does not start: ${written}`);
}

async function run(install: SandboxedInstall, code: string, timeoutMs?: number) {
  const script = join(layout.htdocsOf(install.id), 'test.php');
  await writeFile(script, `<?php ${code}`);
  const request = { REQUEST_METHOD: 'GET', SCRIPT_NAME: '/test.php', SCRIPT_FILENAME: script };
  return askFastcgi(layout.phpSocketOf(install.id), request, timeoutMs === undefined ? {} : { timeoutMs });
}

describe('the PHP of an install', () => {
  it('is one that WordPress can run on', () => {
    expect(missingModules(php)).toEqual([]);
  });

  it('runs scripts as the install’s user, with its settings', async () => {
    const install = await newInstall();
    await started(install);
    const settings = ['memory_limit', 'upload_max_filesize', 'expose_php', 'open_basedir', 'display_errors'];
    const code = `echo json_encode([posix_getuid(), getenv('HOMEPORT_DOC'), getenv('HOME'), PHP_VERSION,
      opcache_get_status(false)['opcache_enabled'], getenv('SECRET'),
      array_map(fn ($name) => ini_get($name), ${JSON.stringify(settings)})]);`;
    const { body } = await run(install, code);
    const [uid, htdocs, home, version, opcache, secret, values] = JSON.parse(body);
    expect(uid).toBe(UID);
    expect(htdocs).toBe(layout.htdocsOf(install.id));
    expect(home).toBe(layout.dotfilesOf(install.id));
    expect(version.startsWith(`${php.version}.`)).toBe(true);
    expect([opcache, secret]).toEqual([true, false]);
    expect(values).toEqual(['256M', '64M', '0', '', '0']);
  });

  it('writes its errors to the private folder and not to the visitor', async () => {
    const install = await newInstall();
    await started(install);
    const { status, body } = await run(install, 'throw new Exception("the secret reason");');
    expect([status, body]).toEqual([500, '']);
    const log = await readFile(join(layout.privateOf(install.id), 'php-error.log'), 'utf8');
    expect(log).toContain('the secret reason');
  });

  it('can be reached by the web server and by no other install', async () => {
    const install = await newInstall();
    await started(install);
    const socket = layout.phpSocketOf(install.id);
    const connect = `use IO::Socket::UNIX; IO::Socket::UNIX->new(Peer => $ARGV[0]) or die $!`;
    const as = (uid: string | number) =>
      runCommand('/usr/bin/setpriv', [
        `--reuid=${uid}`,
        `--regid=${uid}`,
        '--clear-groups',
        '/usr/bin/perl',
        '-e',
        connect,
        socket,
      ]);
    await as('www-data');
    await expect(as(UID + 1)).rejects.toThrow('Permission denied');
  });

  it('is asked at a socket that no website can exchange for a link to another', async () => {
    const install = await newInstall();
    await started(install);
    const code = `$socket = ${JSON.stringify(layout.phpSocketOf(install.id))};
      echo json_encode([file_exists(dirname($socket)), @unlink($socket), @symlink('/run/other.sock', $socket),
        @touch(${JSON.stringify(join(layout.runOf(install.id), 'x'))})]);`;
    expect(JSON.parse((await run(install, code)).body)).toEqual([false, false, false, false]);
    const { mode, uid } = await stat(layout.phpRun);
    expect([mode & 0o777, uid]).toEqual([0o710, 0]);
  });

  it('answers again after it was killed, and starts beside what it left', async () => {
    const install = await newInstall();
    const { child } = await started(install);
    child.kill('SIGKILL');
    await once(child, 'exit');
    await started(install);
    expect((await run(install, 'echo "here";')).body).toBe('here');
  });

  it.each([
    ['it is asked to end', async (main: number) => [main]],
    // As a service manager may do it.
    ['all its processes are asked to', tree],
  ])('finishes what it is at when %s', async (_who, asked) => {
    const install = await newInstall();
    const { spec, child } = await started(install);
    // The first process in the sandbox has other children than PHP then.
    await run(install, 'exec("sleep 60 > /dev/null 2>&1 &");');
    const answer = run(
      install,
      `touch("begun");
      while (!file_exists("asked")) { usleep(1000); clearstatcache(); }
      for ($until = microtime(true) + 1; microtime(true) < $until;) usleep(1000);
      echo "finished";`,
    );
    const at = (name: string) => join(layout.htdocsOf(install.id), name);
    await expect.poll(() => existsSync(at('begun'))).toBe(true);
    // Idle workers end as soon as PHP is asked, so some may be gone when their turn comes.
    for (const pid of await asked(child.pid ?? 0)) sendSignal(pid, spec.stopSignal ?? 'SIGTERM');
    await writeFile(at('asked'), '');
    expect((await answer).body).toBe('finished');
    if (child.exitCode === null) await once(child, 'exit');
    expect(child.exitCode).toBe(0);
  });

  it('ends with the sandbox, wholly', async () => {
    const install = await newInstall();
    const { child } = await started(install);
    const pids = await tree(child.pid ?? 0);
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(pids.length).toBeGreaterThan(2);
    await expect.poll(() => pids.filter((pid) => existsSync(`/proc/${pid}`))).toEqual([]);
  });

  it('sees a document root that was exchanged while it runs', async () => {
    const install = await newInstall();
    await started(install);
    const htdocs = layout.htdocsOf(install.id);
    const staged = join(layout.homeOf(install.id), 'staged');
    await mkdir(staged);
    await writeFile(join(staged, 'new.php'), '<?php echo "new";');
    await runCommand('/usr/bin/mv', [htdocs, `${htdocs}-old`]);
    await runCommand('/usr/bin/mv', [staged, htdocs]);
    const script = join(htdocs, 'new.php');
    const request = { REQUEST_METHOD: 'GET', SCRIPT_NAME: '/new.php', SCRIPT_FILENAME: script };
    expect((await askFastcgi(layout.phpSocketOf(install.id), request)).body).toBe('new');
  });

  it('counts as up while all its workers are at work, and not when it is gone', async () => {
    const install = await newInstall();
    const { spec, child } = await started(install);
    const busy = Array.from({ length: 20 }, () => run(install, 'sleep(5);').catch(() => {}));
    await pause(500);
    await spec.ready();
    child.kill('SIGKILL');
    await Promise.all(busy);
    await expect(spec.ready()).rejects.toThrow('ECONNREFUSED');
  });

  it('starts again when its limits change, and only then', async () => {
    const install = await newInstall();
    const of = (memoryMb: number) => fpmSpec({ layout, install, limits: { ...limits, memoryMb } }).program;
    expect(of(512)).toEqual(of(512));
    expect(of(512)).not.toEqual(of(128));
  });

  it('has the same version on the command line, with the same document root', async () => {
    const install = await newInstall();
    const [program, ...args] = sandboxCommand(layout, install, [
      'php',
      '-r',
      'echo PHP_VERSION, getenv("HOMEPORT_DOC");',
    ]);
    const { stdout } = await runCommand(program, args);
    expect(stdout.startsWith(php.version)).toBe(true);
    expect(stdout.endsWith(layout.htdocsOf(install.id))).toBe(true);
  });

  it('may come from the root of another Debian', async () => {
    const root = join(layout.phpRoots, php.version);
    await mkdir(join(root, 'etc'), { recursive: true });
    for (const folder of ['usr', 'etc/php']) await symlink(join('/', folder), join(root, folder));
    const [other] = await findPhpRuntimes(layout, '/nowhere');
    expect(other).toEqual({ ...php, root });
    const install = { ...(await newInstall()), php: { ...php, root } };
    await started(install);
    expect((await run(install, 'echo PHP_VERSION;')).body).toMatch(php.version);
  });

  it('says what is missing if the core is', async () => {
    const install = { ...(await newInstall()), wordpressVersion: '1.2.3' };
    await expect(started(install)).rejects.toThrow(layout.coreOf('1.2.3'));
  });
});

/** A process and all below it. */
async function tree(pid: number): Promise<number[]> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
  const below = await Promise.all(children.split(' ').filter(Boolean).map(Number).map(tree));
  return [pid, ...below.flat()];
}
