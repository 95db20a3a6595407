import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { CommandError, runCommand } from '../../src/lib/run-command.ts';
import type { Machine } from './machine.ts';

export interface NamespaceMachineOptions {
  /** The root folder of a Debian with systemd, which the machine changes. */
  root: string;
  /** For the console. */
  folder: string;
  /** Of its cgroup. */
  name: string;
  /** How long a boot may take, in milliseconds. */
  bootMs: number;
  /** A folder that other machines have too, at {@link SHARED}. */
  shared?: string | undefined;
}

/** The storage that machines share, as a server of files would give it. */
export const SHARED = '/mnt/shared';

export interface NamespaceMachine extends Machine {
  /** A program of this machine, and its arguments, which runs in the network of the other one. */
  inItsNetwork(program: string, ...words: string[]): [string, ...string[]];
  /** The process id of its systemd on this machine; 0 while it is off. */
  firstProcess(): number;
}

/**
 * Mounts what a machine has, and becomes its first process. The cgroups are those of version 2, without controllers if this machine uses them in
 * version 1, so limits of memory have no effect inside. Without a writable /sys, udev leaves the devices of this machine alone.
 */
const BOOT = `
set -e
root=$1
hostname machine
ip link set lo up
mount --bind "$root" "$root"
if [ -n "$2" ]; then mkdir -p "$root$3"; mount --bind "$2" "$root$3"; fi
mount -t proc proc "$root/proc"
mount -t sysfs -o ro sysfs "$root/sys"
mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
mount -t tmpfs -o mode=755 tmpfs "$root/dev"
for name in null zero full random urandom tty; do touch "$root/dev/$name"; mount --bind "/dev/$name" "$root/dev/$name"; done
mkdir "$root/dev/pts" "$root/dev/shm"
mount -t devpts -o newinstance,ptmxmode=0666,mode=620,gid=5 devpts "$root/dev/pts"
ln -s pts/ptmx "$root/dev/ptmx"
ln -s /proc/self/fd "$root/dev/fd"
for place in dev/shm tmp; do mount -t tmpfs -o mode=1777 tmpfs "$root/$place"; done
mount -t tmpfs -o mode=755 tmpfs "$root/run"
cd "$root"
mkdir run/former
pivot_root . run/former
umount -l /run/former
export container=machine-test
exec chroot / /lib/systemd/systemd --system --log-target=console --show-status=no
`;

const NAMESPACES = ['--mount', '--pid', '--uts', '--ipc', '--net', '--cgroup'];
/** Of a process, which `unshare --cgroup` makes the root of the machine's. The unified hierarchy is below another name beside version 1. */
const CGROUPS = ['/sys/fs/cgroup/unified', '/sys/fs/cgroup'];
const IN_CGROUP = 'echo $$ > "$1/cgroup.procs" && shift && exec "$@"';
const CABLE = 'cable';
const LOOK_EVERY_MS = 500;
/** States of `systemctl is-system-running` after a boot. Units that need a real machine fail. */
const BOOTED = /running|degraded/;
const SHOWN_LENGTH = 4_000;

/**
 * A machine in namespaces of this kernel, with Debian's systemd as the first process. It boots in seconds and runs at full
 * speed, but shares the kernel, so its power cannot fail. `slirp4netns` connects it to the network.
 */
export function createNamespaceMachine(options: NamespaceMachineOptions): NamespaceMachine {
  const { root, folder, name, bootMs, shared = '' } = options;
  const serial = join(folder, 'console.log');
  const cgroup = join(CGROUPS.find((path) => existsSync(join(path, 'cgroup.procs'))) ?? '', name);
  let outer: ChildProcess | null = null;
  let network: ChildProcess | null = null;
  let first = 0;

  async function boot(): Promise<void> {
    await mkdir(cgroup, { recursive: true });
    await writeFile(serial, '', { flag: 'a' });
    const unshare = ['unshare', ...NAMESPACES, '--fork', '--kill-child', '--propagation', 'private', '--'];
    const words = [
      '-c',
      IN_CGROUP,
      'boot',
      cgroup,
      ...unshare,
      '/bin/sh',
      '-c',
      BOOT,
      'boot',
      root,
      shared,
      SHARED,
    ];
    const child = spawn('/bin/sh', words, { stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    outer = child;
    const console = createWriteStream(serial, { flags: 'a' });
    for (const output of [child.stdout, child.stderr]) output.pipe(console, { end: false });
    const deadline = Date.now() + bootMs;
    for (let state = ''; !BOOTED.test(state); await pause(LOOK_EVERY_MS)) {
      if (child.exitCode !== null)
        throw new Error(`the machine has ended: ${await readFile(serial, 'utf8')}`);
      if (Date.now() > deadline)
        throw new Error(`the machine has not booted after ${bootMs / 1000} s: ${state}`);
      first = await childOf(child.pid ?? 0);
      if (first === 0) continue;
      network ??= connect(first);
      state = await run('root', 'systemctl is-system-running || true').catch(() => '');
    }
  }

  async function run(
    user: 'root' | 'admin',
    line: string,
    { input = '', timeoutMs = 120_000 }: { input?: string; timeoutMs?: number } = {},
  ): Promise<string> {
    const inside = ['-m', '-p', '-u', '-i', '-n', '-C', '-r', '-w'];
    const home = user === 'root' ? '/root' : `/home/${user}`;
    const shell = [
      '/usr/bin/env',
      '-i',
      'PATH=/usr/sbin:/usr/bin:/sbin:/bin',
      `HOME=${home}`,
      'LANG=C.UTF-8',
    ];
    const as = user === 'root' ? [] : ['/sbin/runuser', '-u', user, '--'];
    const words = ['-t', String(first), ...inside, '--', ...shell, ...as, '/bin/sh', '-c', line];
    try {
      return (await runCommand('nsenter', words, { input, timeoutMs })).stdout;
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      const { status, stdout, stderr } = error;
      const ending = status === null ? `did not end in ${timeoutMs / 1000} s` : `ended with status ${status}`;
      const said = `${stdout}\n${stderr}`.trim().slice(-SHOWN_LENGTH);
      throw new CommandError(`"${line}" ${ending}: ${said}`, error);
    }
  }

  async function end(): Promise<void> {
    network?.kill();
    network = null;
    const child = outer;
    outer = null;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    // The kernel ends every process of the namespace before this one is gone.
    if (first === 0) child.kill('SIGKILL');
    else process.kill(first, 'SIGKILL');
    await ended;
    await runCommand('find', [cgroup, '-depth', '-type', 'd', '-delete']);
  }

  return {
    console: serial,
    boot,
    run,
    async reboot() {
      await end();
      await boot();
    },
    cutPower: end,
    end,
    inItsNetwork: (program, ...words) => ['nsenter', '-t', String(first), '-n', '--', program, ...words],
    firstProcess: () => (outer === null ? 0 : first),
  };
}

/** Connects two machines that run, until one of them ends. `addresses`: of each at the device `cable`, in one network. */
export async function connectMachines(
  machines: readonly [NamespaceMachine, NamespaceMachine],
  addresses: readonly [string, string],
): Promise<void> {
  const [one, other] = machines.map((machine) => String(machine.firstProcess()));
  const end = ['name', CABLE, 'netns'];
  await runCommand('ip', ['link', 'add', ...end, one ?? '', 'type', 'veth', 'peer', ...end, other ?? '']);
  for (const [at, machine] of machines.entries()) {
    const ip = (...words: string[]) => {
      const [program, ...rest] = machine.inItsNetwork('ip', ...words);
      return runCommand(program, rest);
    };
    await ip('address', 'add', `${addresses[at]}/24`, 'dev', CABLE);
    await ip('link', 'set', CABLE, 'up');
  }
}

/** Gives the namespace of a process a network device. The machine configures its address (package-machine.ts). */
function connect(pid: number): ChildProcess {
  const child = spawn('slirp4netns', ['--disable-host-loopback', String(pid), 'tap0'], { stdio: 'ignore' });
  child.on('error', () => {});
  return child;
}

/** The only child of a process; 0 before it is there. */
async function childOf(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
  return Number(text.trim().split(' ')[0] ?? 0);
}
