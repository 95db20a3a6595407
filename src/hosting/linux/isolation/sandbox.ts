import { basename, join } from 'node:path';
import type { LinuxLayout } from '../machine/layout.ts';
import type { PhpRuntime } from '../machine/php-runtimes.ts';
import { tenantFilterFile } from './system-calls.ts';

/** What has to be known of an install to run a program as it. */
export interface SandboxedInstall {
  /** UUID, lower case. */
  id: string;
  /** Name of its Unix user. */
  name: string;
  uid: number;
  gid: number;
  php: PhpRuntime;
  /** Which core its document root links to. */
  wordpressVersion: string;
  /** Its home, where that is another folder than `layout.homeOf(id)`. */
  home?: string;
  /**
   * Where its core is for its PHP-FPM to read as compiled code, if that was made: a folder named as PHP names its build, in
   * which the core has its own path.
   */
  compiledCore?: string;
}

export interface SandboxOptions {
  /** Where the program starts; the home if left out. */
  folder?: string;
  /**
   * Its environment besides {@link baseEnvironment}. It travels as arguments, which every process of the machine itself may
   * read: no secrets in here, those go through standard input or a file.
   */
  environment?: Record<string, string>;
  /** Further files and folders to show, read-only and under their own path: `layout.scripts`. They must exist. */
  readOnly?: readonly string[];
  /**
   * The folder that it makes its socket in: `runOf(id)` for PHP, `redisRunOf(id)` for Redis. To everything else the run folder is
   * read-only, so that no website exchanges a socket to which others connect for a link.
   */
  socketFolder?: string;
  /** Shows `install.compiledCore` in {@link SANDBOX_COMPILED}, where there is one. */
  showCompiled?: boolean;
  /** It has a terminal: it stays in the session that the terminal belongs to, so that job control works. */
  terminal?: boolean;
  /** `already`: the caller runs as the install's user (a log-in); otherwise it is root and the user is switched first. */
  user?: 'switch' | 'already';
}

/** Where an install sees what stands in {@link sandboxEtcOf}. */
export const SANDBOX_ETC = '/etc/homeport';

/** Where an install's PHP keeps compiled code (`opcache.file_cache`). */
export const SANDBOX_COMPILED = '/run/homeport/compiled';

/**
 * PHP wants to write there, and so it may, into memory of its own that goes with the sandbox. What it compiles itself it has in its
 * shared memory anyway: room for the folders is enough.
 */
const COMPILED_BYTES = 1024 * 1024;

/** `/tmp` and `/dev/shm` are memory, and count as the install's until they are emptied or the sandbox ends. */
const TMP_BYTES = 256 * 1024 * 1024;
const SHM_BYTES = 64 * 1024 * 1024;

/** bwrap reads its filter of system calls from a descriptor, which a shell opens. FPM's socket has the one after it. */
const FILTER_FD = '8';
const OPEN_FILTER = `exec "$@" ${FILTER_FD}<"$0"`;

/** `php` is the install's own version in here, whatever else the machine has. */
const OWN_PROGRAMS = '/run/homeport/bin';

/**
 * Root's own folder with the few files of `/etc` that differ from install to install (`passwd`, `group`, `hosts`) and with
 * the configuration of its PHP. {@link makeHome} fills it; like all of the run folder it is gone after a restart of the machine.
 */
export function sandboxEtcOf(layout: LinuxLayout, installId: string): string {
  return join(layout.runFolder, 'etc', basename(layout.runOf(installId)));
}

/** The folders of an install: its home, and in it the document root and what is never served. */
export function foldersOf(
  layout: LinuxLayout,
  install: Pick<SandboxedInstall, 'id' | 'home'>,
): { home: string; htdocs: string; private: string } {
  const home = install.home ?? layout.homeOf(install.id);
  return {
    home,
    htdocs: join(home, basename(layout.htdocsOf(install.id))),
    private: join(home, basename(layout.privateOf(install.id))),
  };
}

/**
 * The command that runs `command` as the install and shows it nothing but what is the install's: the programs of its PHP's
 * system and its WordPress read-only; its home and a `/tmp` of its own to write to; the folders with its sockets and the
 * database server's. Other processes, users and files do not exist in there; no privilege can be gained, and no further
 * namespace be made, in which a process would be root to the kernel's less guarded parts.
 *
 * The network is the machine's. {@link tenantFilter} refuses to bind and to listen; the firewall decides what a tenant may connect to. A cgroup is entered before it, by the
 * caller. What it shows must exist, or the sandbox ends with a message that names what is missing.
 */
export function sandboxCommand(
  layout: LinuxLayout,
  install: SandboxedInstall,
  command: readonly [string, ...string[]],
  options: SandboxOptions = {},
): [string, ...string[]] {
  const { home } = foldersOf(layout, install);
  const core = layout.coreOf(install.wordpressVersion);
  const run = layout.runOf(install.id);
  const sandbox: [string, ...string[]] = [
    '/bin/sh',
    ...['-c', OPEN_FILTER, tenantFilterFile(layout).path],
    ...['/usr/bin/bwrap', '--seccomp', FILTER_FD],
    ...separation(install, options),
    ...environment(layout, install, options),
    ...systemFiles(install.php),
    ...same('--ro-bind', core, layout.mariadbRun, ...(options.readOnly ?? [])),
    ...['--ro-bind', sandboxEtcOf(layout, install.id), SANDBOX_ETC],
    ...(options.showCompiled ? compiledCode(install, core) : []),
    ...same('--bind', home),
    ...same('--ro-bind', run),
    ...(options.socketFolder === undefined ? [] : same('--bind', options.socketFolder)),
    // Over it again where PHP may write to the whole: it would then be able to exchange Redis's folder.
    ...(options.socketFolder === run ? same('--ro-bind', layout.redisRunOf(install.id)) : []),
    // Last, as each makes only the one mount read-only: they would be places to fill memory from.
    ...['--remount-ro', '/dev', '--remount-ro', '/'],
    ...['--chdir', options.folder ?? home],
    '--',
    ...command,
  ];
  const limited = withFileSizeLimit(layout, sandbox);
  return options.user === 'already' ? limited : asUser(install, limited);
}

/**
 * No file of an install can be larger than all of them together may be. With the signal ignored, a write beyond the limit fails as "File
 * too large" instead of ending the program.
 */
function withFileSizeLimit({ limits }: LinuxLayout, command: [string, ...string[]]): [string, ...string[]] {
  if (limits.bytes === null) return command;
  return ['/usr/bin/env', '--ignore-signal=XFSZ', '/usr/bin/prlimit', `--fsize=${limits.bytes}`, ...command];
}

/** The command that runs another as the user of an install, but outside of its sandbox. For root. */
export function asUser(
  { uid, gid }: Pick<SandboxedInstall, 'uid' | 'gid'>,
  command: readonly string[],
): [string, ...string[]] {
  return [
    '/usr/bin/setpriv',
    `--reuid=${uid}`,
    `--regid=${gid}`,
    '--clear-groups',
    '--no-new-privs',
    ...command,
  ];
}

function separation(install: SandboxedInstall, { terminal = false }: SandboxOptions): string[] {
  return [
    '--unshare-user',
    '--disable-userns',
    '--unshare-pid',
    '--unshare-ipc',
    '--unshare-uts',
    '--unshare-cgroup',
    ...['--hostname', install.name],
    '--die-with-parent',
    ...(terminal ? [] : ['--new-session']),
  ];
}

/** What every program of an install finds in its environment. */
function baseEnvironment(layout: LinuxLayout, install: SandboxedInstall): Record<string, string> {
  const { home, htdocs } = foldersOf(layout, install);
  return {
    PATH: `${OWN_PROGRAMS}:/usr/local/bin:/usr/bin:/bin`,
    LANG: 'C.UTF-8',
    HOME: home,
    USER: install.name,
    LOGNAME: install.name,
    SHELL: '/bin/bash',
    // The shared wp-config.php of the core finds the website by it.
    HOMEPORT_DOC: htdocs,
  };
}

function environment(layout: LinuxLayout, install: SandboxedInstall, options: SandboxOptions): string[] {
  const variables = { ...baseEnvironment(layout, install), ...options.environment };
  return ['--clearenv', ...Object.entries(variables).flatMap(([name, value]) => ['--setenv', name, value])];
}

/** Debian's `/bin`, `/lib` and so on are links into `/usr` (since Debian 12 without exception). */
const USR_LINKS = ['bin', 'sbin', 'lib', 'lib64'];

/** Of `/etc`, what belongs to the programs in `/usr`, and is there where its package is. */
const PROGRAM_SETTINGS = [
  'alternatives',
  'bash.bashrc',
  'fonts',
  'ImageMagick-6',
  'ImageMagick-7',
  'inputrc',
  'ld.so.cache',
  'mime.types',
  'profile',
  'protocols',
  'services',
];

/** Of `/etc`, what is so for the whole machine, whichever PHP it is. */
const MACHINE_SETTINGS = ['localtime', 'resolv.conf', 'ssl/certs', 'ssl/openssl.cnf', 'timezone'];

/** What {@link sandboxEtcOf} holds for a place right in `/etc`. */
export const OWN_SETTINGS = ['group', 'hosts', 'nsswitch.conf', 'passwd'] as const;

function systemFiles({ root, version, cli }: PhpRuntime): string[] {
  return [
    ...['--ro-bind', join(root, 'usr'), '/usr'],
    ...USR_LINKS.flatMap((name) => ['--symlink', `usr/${name}`, `/${name}`]),
    ...['--ro-bind', join(root, 'etc/php', version), `/etc/php/${version}`],
    ...PROGRAM_SETTINGS.flatMap((name) => ['--ro-bind-try', join(root, 'etc', name), `/etc/${name}`]),
    ...MACHINE_SETTINGS.flatMap((name) => ['--ro-bind-try', `/etc/${name}`, `/etc/${name}`]),
    // Links into the folder, for a file that is bound goes stale when a newer one takes its place.
    ...OWN_SETTINGS.flatMap((name) => ['--symlink', `homeport/${name}`, `/etc/${name}`]),
    ...['--symlink', cli, `${OWN_PROGRAMS}/php`],
    ...['--proc', '/proc', '--dev', '/dev'],
    ...['--perms', '1777', '--size', `${SHM_BYTES}`, '--tmpfs', '/dev/shm'],
    ...['--perms', '1777', '--size', `${TMP_BYTES}`, '--tmpfs', '/tmp'],
    ...['--symlink', '../tmp', '/var/tmp'],
  ];
}

/** Tried, for it may go with another build of PHP: the website compiles for itself then. */
function compiledCode({ compiledCore }: SandboxedInstall, core: string): string[] {
  if (compiledCore === undefined) return [];
  const shown = join(SANDBOX_COMPILED, basename(compiledCore), core);
  return [
    ...['--size', `${COMPILED_BYTES}`, '--tmpfs', SANDBOX_COMPILED],
    ...['--ro-bind-try', join(compiledCore, core), shown],
  ];
}

function same(option: '--bind' | '--ro-bind', ...paths: string[]): string[] {
  return paths.flatMap((path) => [option, path, path]);
}
