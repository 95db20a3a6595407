import { existsSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { type LimitName, processLimit } from '../../../lib/process-limits.ts';

/** The programs of this machine's PHP. */
export interface MachinePrograms {
  fpm: string;
  cli: string;
}

/** The folders that a sandbox shows besides PHP, in the order of the mounts. A folder is open if its owner may replace its path by a link meanwhile. */
export interface Shown {
  from: string | FileHandle;
  to: string;
  isWritable?: boolean;
}

/** How to start a program in a sandbox. */
export interface SandboxStart {
  command: [string, ...string[]];
  /** Descriptors for the child, after the filter of system calls. */
  descriptors: number[];
}

interface SandboxOptions {
  shown: readonly Shown[];
  environment: Readonly<Record<string, string>>;
  folder: string;
  /** Of each process, in MiB. */
  memoryMb: number;
  /** The most processes and threads of the joined namespace together, or of the user of Homeport without one. Default: no limit. */
  processes?: number;
  /** Namespaces of the website, which {@link withOverlay} joins; null without a website. */
  joined: { user: FileHandle; network: FileHandle } | null;
  /** Whether it has a separate network, without a way out, all the same. */
  isAlone?: boolean;
}

/** The programs, as the sandbox sees them. */
export const FPM = '/homeport/bin/php-fpm';
export const CLI = '/homeport/bin/php';

/** PHP's libraries, and the files of other packages that they read: time zones, certificates and fonts. */
const LIBRARIES = [
  '/lib',
  '/lib64',
  '/usr/lib',
  '/usr/lib64',
  '/usr/local/lib',
  '/etc/ld.so.cache',
  '/etc/nsswitch.conf',
  '/etc/ssl/certs',
  '/etc/ssl/openssl.cnf',
  '/etc/pki/tls/certs',
  '/etc/fonts',
  '/usr/share/ca-certificates',
  '/usr/share/fonts',
  '/usr/share/fontconfig',
  '/usr/share/zoneinfo',
  '/usr/share/mime',
];
/** A number that is no user of the machine; outside of the sandbox, files belong to the user of Homeport. */
const INNER_USER = '1000';
const MIB = 1024 * 1024;
/** Open files of each process. A pair of sockets can hold 400 KB of memory that no other limit counts. */
const MOST_OPEN = 512;
/** The first descriptor after the standard streams. */
const FILTER_FD = 3;
/** Those of the joined namespaces. */
const USER_FD = 4;
const NETWORK_FD = 5;

/** The hard limit of this process, which a child cannot exceed. */
const ownHardLimit = (name: LimitName): number => processLimit(name)?.hard ?? Number.POSITIVE_INFINITY;

/**
 * The command that runs `command` in a new sandbox: no other processes, no rights, and only the folders that are shown.
 * The machine's PHP settings are not among them. `hardLimit`: prlimit fails if it is told to exceed it.
 */
export function sandboxCommand(
  { fpm, cli }: MachinePrograms,
  { shown, environment, folder, memoryMb, processes, joined, isAlone = joined === null }: SandboxOptions,
  command: readonly string[],
  hardLimit: (name: LimitName) => number = ownHardLimit,
): SandboxStart {
  const descriptors: number[] = joined === null ? [] : [joined.user.fd, joined.network.fd];
  const mountOf = ({ from, to, isWritable = false }: Shown): string[] => {
    if (typeof from === 'string') return [isWritable ? '--bind' : '--ro-bind', from, to];
    descriptors.push(from.fd);
    const number = String(FILTER_FD + descriptors.length);
    return [isWritable ? '--bind-fd' : '--ro-bind-fd', number, to];
  };
  const sandboxed: SandboxStart['command'] = [
    'prlimit',
    `--data=${Math.min(memoryMb * MIB, hardLimit('Max data size'))}`,
    `--nofile=${Math.min(MOST_OPEN, hardLimit('Max open files'))}`,
    '--core=0',
    ...(processes === undefined ? [] : [`--nproc=${Math.min(processes, hardLimit('Max processes'))}`]),
    '--',
    'bwrap',
    ...['--unshare-user', '--unshare-pid', '--unshare-ipc', '--unshare-uts'],
    ...(isAlone ? ['--unshare-net'] : []),
    ...['--unshare-cgroup-try', '--disable-userns', '--uid', INNER_USER, '--gid', INNER_USER],
    ...['--die-with-parent', '--new-session', '--clearenv', '--cap-drop', 'ALL'],
    ...['--seccomp', String(FILTER_FD)],
    ...Object.entries(environment).flatMap(([name, value]) => ['--setenv', name, value]),
    ...LIBRARIES.filter((path) => existsSync(path)).flatMap((path) => ['--ro-bind', path, path]),
    ...['--ro-bind', fpm, FPM, '--ro-bind', cli, CLI],
    ...['--proc', '/proc', '--dev', '/dev'],
    ...shown.flatMap(mountOf),
    // Settings of the kernel, which belong to the user of Homeport, and memory, which files could fill.
    ...['--remount-ro', '/proc', '--remount-ro', '/dev', '--remount-ro', '/'],
    ...['--chdir', folder, '--'],
    ...command,
  ];
  return { command: sandboxed, descriptors };
}

/**
 * Without the descriptors of the namespaces, which PHP must not have. The devices that bubblewrap shows are those of the machine, and could
 * belong to the user of Homeport, so their modes are fixed. Mounts that bubblewrap makes inherit both flags. The shell reads nothing but these
 * arguments.
 */
const MOUNT = `exec 4<&- 5<&- && mount -t overlay overlay -o "$1" "$2" && shift 2 &&
{ mount -o remount,bind,ro,nosuid,noexec /dev 2>/dev/null || mount -o bind,ro,nosuid,noexec /dev /dev; } || exit
while test "$1" != --; do mount -o bind,nosuid,nodev,noexec "$1" "$1" && shift || exit; done
shift && exec "$@"`;

/**
 * The command in the joined network of a website and in a new mount namespace, with an overlay that ends with it. Its rights in the
 * user namespace of the network are those that mounts need. `changeable`: folders that PHP can change. No library in them can be loaded: with
 * `putenv`, ImageMagick would.
 */
export function withOverlay(
  { options, place }: { options: string; place: string },
  changeable: readonly string[],
  command: SandboxStart['command'],
): SandboxStart['command'] {
  return [
    'nsenter',
    ...[
      '--preserve-credentials',
      `--user=/proc/self/fd/${USER_FD}`,
      `--net=/proc/self/fd/${NETWORK_FD}`,
      '--',
    ],
    ...['unshare', '--mount', '--propagation', 'private', '--'],
    ...['sh', '-c', MOUNT, 'sh', `nosuid,nodev,noexec,${options}`, place, ...changeable, '--', ...command],
  ];
}
