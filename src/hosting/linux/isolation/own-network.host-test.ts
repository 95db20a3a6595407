import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readlink, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommand } from '../../../lib/run-command.ts';
import { type LinuxLayout, linuxLayout } from '../machine/layout.ts';
import { findPhpRuntimes } from '../machine/php-runtimes.ts';
import { makeHome } from './folders.ts';
import { askingFilter, ownNetwork } from './own-network.ts';
import { type SandboxedInstall, type SandboxOptions, sandboxCommand } from './sandbox.ts';

const UID = 391_520;
const GREETING = 'hello from the machine';

let layout: LinuxLayout;
let install: SandboxedInstall;
let service: Server;
let port: number;

beforeAll(async () => {
  layout = linuxLayout(await mkdtemp('/srv/hpt-network-'), await mkdtemp('/run/hpt-network-'));
  for (const folder of [layout.folder, layout.runFolder]) await chmod(folder, 0o711);
  await mkdir(layout.coreOf('6.8.7'), { recursive: true });
  await mkdir(layout.mariadbRun);
  const [php] = await findPhpRuntimes(layout);
  if (!php) throw new Error('this machine has no PHP-FPM');
  install = { id: randomUUID(), name: 'shop', uid: UID, gid: UID, php, wordpressVersion: '6.8.7' };
  await makeHome(layout, install);
  service = createServer((connection) => connection.end(GREETING));
  await new Promise<void>((resolve) => service.listen({ host: '127.0.0.1', port: 0 }, resolve));
  const address = service.address();
  port = address !== null && typeof address === 'object' ? address.port : 0;
});
afterAll(async () => {
  service?.close();
  for (const folder of [layout.folder, layout.runFolder]) await rm(folder, { recursive: true, force: true });
});

function commandOf(command: [string, ...string[]], options: SandboxOptions = {}): [string, ...string[]] {
  return sandboxCommand(layout, install, command, options);
}

async function run(command: [string, ...string[]], options: SandboxOptions = {}): Promise<string> {
  const [program, ...args] = commandOf(command, options);
  return (await runCommand(program, args)).stdout;
}

/** The processes of the install. */
async function running(): Promise<string[]> {
  const { stdout } = await runCommand('/usr/bin/ps', ['-e', '-o', 'uid=,stat=,pid=,args=']);
  return stdout.split('\n').filter((line) => line.trim().startsWith(`${UID} `) && !/^\s*\d+ Z/.test(line));
}

const php = (code: string): [string, ...string[]] => ['php', '-r', code];

describe('the network of a sandbox', () => {
  it('is its own, and its sockets are the machine’s', async () => {
    const code = `echo readlink('/proc/self/ns/net'), ' ', stream_get_contents(stream_socket_client('tcp://127.0.0.1:${port}'));`;
    const [namespace, ...greeting] = (await run(php(code))).split(' ');
    expect(greeting.join(' ')).toBe(GREETING);
    expect(namespace).toMatch(/^net:/);
    expect(namespace).not.toBe(await readlink('/proc/self/ns/net'));
  });

  it('gives sockets as they were asked for', async () => {
    // Family, type and protocol of Socket(3perl); whether it blocks and whether it is closed for programs (fcntl(2)).
    const code = `use Socket; use Fcntl; for my $family (AF_INET, AF_INET6) { for my $type (SOCK_STREAM, SOCK_DGRAM) { for my $flag (0, 02000000, 04000) {
      my $fd = syscall($ARGV[0], $family, $type | $flag, 0); open my $s, "+<&=", $fd or die $!;
      print join(",", unpack("i", getsockopt($s, SOL_SOCKET, SO_TYPE)), fcntl($s, F_GETFD, 0) + 0, fcntl($s, F_GETFL, 0) & 04000 ? 1 : 0), " " } } }`;
    const number = process.arch === 'x64' ? '41' : '198';
    const ofType = (type: number) => [`${type},1,0`, `${type},1,0`, `${type},1,1`];
    const all = [...ofType(1), ...ofType(2), ...ofType(1), ...ofType(2)];
    const [outside, inside] = [
      (await runCommand('/usr/bin/perl', ['-e', code, number])).stdout,
      await run(['/usr/bin/perl', '-e', code, number]),
    ];
    expect(inside).toBe(outside);
    expect(outside.trim().split(' ')).toHaveLength(all.length);
  });

  it('gives many at once, and says if a process has too many', async () => {
    const code = `
      $children = [];
      for ($i = 0; $i < 8; $i++) { if (pcntl_fork() === 0) {
        for ($n = 0; $n < 200; $n++) { $s = stream_socket_client('tcp://127.0.0.1:${port}'); if (stream_get_contents($s) !== '${GREETING}') exit(1); }
        exit(0);
      } }
      $failed = 0; while (pcntl_wait($status) > 0) $failed += $status;
      posix_setrlimit(POSIX_RLIMIT_NOFILE, 20, 20);
      for ($kept = []; $s = @socket_create(AF_INET, SOCK_STREAM, 0); ) $kept[] = $s;
      echo $failed, ' ', socket_strerror(socket_last_error());`;
    expect(await run(php(code))).toBe('0 Too many open files');
  });

  it('passes the exit status, a signal and the output on', async () => {
    const failing = run(['/bin/sh', '-c', 'echo said; echo why >&2; exit 3']);
    await expect(failing).rejects.toMatchObject({ status: 3, stdout: 'said\n', stderr: 'why\n' });
    await expect(run(['/bin/sh', '-c', 'kill -TERM $$'])).rejects.toMatchObject({ status: 143 });
  });

  it('ends after all that runs in the sandbox', async () => {
    const worker = 'perl -e "my \\$x = q(a) x 5000000; 1 while 1" >/dev/null 2>&1 &';
    for (let time = 0; time < 2; time += 1) {
      await run(['/bin/sh', '-c', `for n in 1 2 3 4 5 6 7 8 9 10; do ${worker} done; sleep 0.1`]);
      expect(await running()).toEqual([]);
    }
  });

  it('ends the sandbox if the program that answers is killed', async () => {
    const [program, ...args] = commandOf(['/bin/sh', '-c', 'echo started; exec sleep 600']);
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    await new Promise((resolve) => child.stdout.once('data', resolve));
    const ended = once(child, 'exit');
    // The sandbox has the other end.
    const closed = once(child.stdout, 'close');
    child.kill('SIGKILL');
    expect(await ended).toEqual([null, 'SIGKILL']);
    await closed;
  });

  it('starts nothing if the kernel has no room for the questions', async () => {
    // As many filters as a process may have, from the longest to short ones.
    const fill = `syscall($ARGV[0], 38, 1, 0, 0, 0); for my $length (4096, 256, 16, 1) {
      my $filter = pack("S C C L", 6, 0, 0, 0x7fff0000) x $length; my $described = pack("S x6 P", $length, $filter);
      1 while syscall($ARGV[1], 1, 0, $described) == 0 } exec @ARGV[2 .. $#ARGV]`;
    const calls = process.arch === 'x64' ? ['157', '317'] : ['167', '277'];
    const start = ownNetwork(layout, ['/bin/echo', 'has the network']);
    const full = runCommand('/usr/bin/perl', ['-e', fill, ...calls, ...start]);
    const why = 'cannot ask for sockets: Cannot allocate memory\n';
    await expect(full).rejects.toMatchObject({ stdout: '', stderr: why });
  });

  it('is the machine’s if the kernel refuses to ask', async () => {
    const asking = askingFilter(process.arch).toString('hex');
    const code = `echo readlink('/proc/self/ns/net'), ' ', stream_get_contents(stream_socket_client('tcp://127.0.0.1:${port}'));`;
    const [program, ...args] = commandOf(php(code)).map((word) => (word === asking ? '' : word));
    const { stdout } = await runCommand(`${program}`, args);
    expect(stdout).toBe(`${await readlink('/proc/self/ns/net')} ${GREETING}`);
  });
});
