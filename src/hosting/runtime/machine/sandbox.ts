import { existsSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';

/** The programs of this machine's PHP. */
export interface MachinePrograms {
  fpm: string;
  cli: string;
}

/** What a sandbox shows besides PHP, in the order of the mounts. A folder is open if its owner may replace its path by a link meanwhile. */
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
/** The first descriptor after the standard streams. */
const FILTER_FD = 3;

/**
 * The command that runs `command` in a sandbox of its own: no network, no other processes, no rights, and only the folders that are shown.
 * The machine's PHP settings are not among them.
 */
export function sandboxCommand(
  { fpm, cli }: MachinePrograms,
  { shown, environment, folder, memoryMb }: SandboxOptions,
  command: readonly string[],
): SandboxStart {
  const descriptors: number[] = [];
  const mountOf = ({ from, to, isWritable = false }: Shown): string[] => {
    if (typeof from === 'string') return [isWritable ? '--bind' : '--ro-bind', from, to];
    descriptors.push(from.fd);
    const number = String(FILTER_FD + descriptors.length);
    return [isWritable ? '--bind-fd' : '--ro-bind-fd', number, to];
  };
  const sandboxed: SandboxStart['command'] = [
    'prlimit',
    ...[`--data=${memoryMb * MIB}`, '--core=0', '--'],
    'bwrap',
    ...['--unshare-user', '--unshare-pid', '--unshare-net', '--unshare-ipc', '--unshare-uts'],
    ...['--unshare-cgroup-try', '--disable-userns', '--uid', INNER_USER, '--gid', INNER_USER],
    ...['--die-with-parent', '--new-session', '--clearenv', '--cap-drop', 'ALL'],
    ...['--seccomp', String(FILTER_FD)],
    ...Object.entries(environment).flatMap(([name, value]) => ['--setenv', name, value]),
    ...LIBRARIES.filter((path) => existsSync(path)).flatMap((path) => ['--ro-bind', path, path]),
    ...['--ro-bind', fpm, FPM, '--ro-bind', cli, CLI],
    ...['--proc', '/proc', '--dev', '/dev'],
    ...shown.flatMap(mountOf),
    // Memory, which files could fill.
    ...['--remount-ro', '/dev', '--remount-ro', '/'],
    ...['--chdir', folder, '--'],
    ...command,
  ];
  return { command: sandboxed, descriptors };
}

/** In a mount namespace of its own, so that the mount ends with the program. The shell reads nothing but these arguments. */
const MOUNT = 'mount -t overlay overlay -o "$1" "$2" && shift 2 && exec "$@"';

/** The command after an overlay has been mounted for it. */
export function withOverlay(
  { options, place }: { options: string; place: string },
  command: SandboxStart['command'],
): SandboxStart['command'] {
  return [
    'unshare',
    ...['--user', '--map-root-user', '--mount', '--propagation', 'private', '--'],
    ...['sh', '-c', MOUNT, 'sh', options, place, ...command],
  ];
}
