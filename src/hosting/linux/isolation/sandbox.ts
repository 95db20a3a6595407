import { basename, join } from 'node:path';
import { hasLimits } from '../../contract/install-limits.ts';
import { ADMINER, SANDBOX_ADMINER } from '../database-page/page-file.ts';
import type { LinuxLayout } from '../machine/layout.ts';
import type { PhpRuntime } from '../machine/php-runtimes.ts';
import { ownNetwork } from './own-network.ts';
import { tenantFilterFile } from './system-calls.ts';

/** The facts about an install that running a program in its sandbox needs. */
export interface SandboxedInstall {
  /** UUID, lower case. */
  id: string;
  /** Name of its Unix user. */
  name: string;
  uid: number;
  gid: number;
  php: PhpRuntime;
  /** Version of the WordPress core that the document root links to. */
  wordpressVersion: string;
  /** Its home, if it is not `layout.homeOf(id)`. */
  home?: string;
  /**
   * Folder with its core as compiled code for PHP-FPM, if that was made. The folder is named after the PHP build, and holds
   * the core under the core's own path.
   */
  compiledCore?: string;
}

export interface SandboxOptions {
  /** Working folder; the home if left out. If the install cannot enter it, the program does not start. */
  folder?: string;
  /** Working folder if the install can enter it. Owners can forbid that for folders of theirs. */
  preferredFolder?: string;
  /**
   * Environment besides {@link baseEnvironment}. It travels in arguments, which every process of the machine can read. Pass
   * secrets by standard input or in a file instead.
   */
  environment?: Record<string, string>;
  /** More files and folders to show, read-only, under their own path: `layout.scripts`. They must exist. */
  readOnly?: readonly string[];
  /**
   * Folder for the program's socket: `runOf(id)` for PHP, `redisRunOf(id)` for Redis. The run folder is read-only for
   * everything else, so that no website can replace a socket by a link.
   */
  socketFolder?: string;
  /** Shows `install.compiledCore`, if set, at {@link SANDBOX_COMPILED}. */
  showCompiled?: boolean;
  /**
   * Shows the tools of people: `wp`, `mysql` and `mysqldump` are in PATH. For shells and WP-CLI.
   */
  tools?: boolean;
  /** The caller made the session: a terminal, for job control, or `ownSession`, so that an abort ends the whole group. */
  terminal?: boolean;
  /** Without network, the program reaches only the sockets of the machine that the sandbox shows. */
  network?: boolean;
  /** `already`: the caller runs as the install's user (a login). `switch`: the caller is root. */
  user?: 'switch' | 'already';
}

/** Where an install sees its {@link sandboxEtcOf}. */
export const SANDBOX_ETC = '/etc/homeport';

/** Folder of compiled code in the sandbox (`opcache.file_cache`). */
export const SANDBOX_COMPILED = '/run/homeport/compiled';

/**
 * PHP insists on a writable folder, so it gets a small tmpfs that ends with the sandbox. PHP keeps what it compiles itself in
 * shared memory, so this only needs room for folders.
 */
const COMPILED_BYTES = 1024 * 1024;

/** `/tmp` and `/dev/shm` are memory, and count towards the install's limit until emptied or until the sandbox ends. */
const TMP_BYTES = 256 * 1024 * 1024;
const SHM_BYTES = 64 * 1024 * 1024;

/**
 * bwrap reads its system call filter from a descriptor that a shell opens. FPM's socket has the next one. Perl, which follows, warns about
 * a locale that the machine lacks.
 */
const FILTER_FD = '8';
/** Options of bwrap. */
export const FILTER = ['--seccomp', FILTER_FD] as const;
const OPEN_FILTER = `export LC_ALL=C; exec "$@" ${FILTER_FD}<"$0"`;
const START_IN = 'cd "$0" 2>/dev/null; exec "$@"';

/** Where sandboxes show `layout.wpCli`, and the program for `wp` in that folder. */
export const SANDBOX_WP_CLI = '/run/homeport/wp-cli';
export const WP_CLI_LAUNCHER = 'wp';

/** `php` in here is the install's PHP version, regardless of the machine's other versions. */
const OWN_PROGRAMS = '/run/homeport/bin';

/** The program in {@link sandboxEtcOf} that hands messages to the host, and its path for the install. */
export const SENDMAIL = 'sendmail';
export const OWN_SENDMAIL = `${OWN_PROGRAMS}/${SENDMAIL}`;

/**
 * Folder, owned by root, of the few `/etc` files that differ between installs (`passwd`, `group`, `hosts`) and of the
 * install's PHP configuration. {@link makeHome} fills it. A restart of the machine empties it, like the rest of the run folder.
 */
export function sandboxEtcOf(layout: LinuxLayout, installId: string): string {
  return join(layout.runFolder, 'etc', basename(layout.runOf(installId)));
}

/** The folders of an install: its home, and inside it the document root, the private folder, and those of dotfiles and uploads. */
export function foldersOf(
  layout: LinuxLayout,
  install: Pick<SandboxedInstall, 'id' | 'home'>,
): { home: string; htdocs: string; private: string; dotfiles: string; uploads: string } {
  const home = install.home ?? layout.homeOf(install.id);
  return {
    home,
    htdocs: join(home, basename(layout.htdocsOf(install.id))),
    private: join(home, basename(layout.privateOf(install.id))),
    dotfiles: join(home, basename(layout.dotfilesOf(install.id))),
    uploads: join(home, basename(layout.uploadsOf(install.id))),
  };
}

/**
 * The command that runs `command` as the install, which sees only what belongs to the install. Read-only: its PHP's
 * system, its WordPress, and the sockets of the install and the database server. Writable: its home and a private `/tmp`.
 * Other processes, users and files are invisible. The program can gain no privileges and create no namespaces, in which it
 * could reach less guarded parts of the kernel as root.
 *
 * The network is its own, and {@link ownNetwork} gives it sockets of the machine's: {@link tenantFilter} forbids bind and listen, and the
 * firewall limits connections. The caller enters a cgroup first. Every bound path must exist, or the sandbox ends with a message that
 * names the missing one.
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
  const { network = true } = options;
  const bwrap = [
    '/usr/bin/bwrap',
    ...(network ? [] : ['--unshare-net']),
    ...FILTER,
    ...separation(install, options),
    ...environment(layout, install, options),
    ...systemFiles(install.php),
    ...(options.tools ? tools(layout) : []),
    ...same('--ro-bind', core, layout.mariadbRun, ...(options.readOnly ?? [])),
    ...['--ro-bind', sandboxEtcOf(layout, install.id), SANDBOX_ETC],
    ...(options.showCompiled ? compiledCode(install, core) : []),
    ...same('--bind', home),
    ...same('--ro-bind', run),
    ...(options.socketFolder === undefined ? [] : same('--bind', options.socketFolder)),
    // Bound again if PHP may write to the whole run folder: it could replace Redis's folder otherwise.
    ...(options.socketFolder === run ? same('--ro-bind', layout.redisRunOf(install.id)) : []),
    // Last: each remounts a single mount read-only. Writable ones could be filled to use up memory.
    ...['--remount-ro', '/dev', '--remount-ro', '/'],
    ...['--chdir', options.folder ?? home],
    '--',
    ...(options.preferredFolder === undefined ? [] : ['/bin/sh', '-c', START_IN, options.preferredFolder]),
    ...command,
  ];
  const limited = withFileSizeLimit(layout, filtered(layout, network ? ownNetwork(layout, bwrap) : bwrap));
  return options.user === 'already' ? limited : asUser(install, limited);
}

/** The command that opens the system call filter for a command of bubblewrap with {@link FILTER}. */
export function filtered(layout: LinuxLayout, command: readonly string[]): [string, ...string[]] {
  return ['/bin/sh', '-c', OPEN_FILTER, tenantFilterFile(layout).path, ...command];
}

/**
 * Limits each file to the quota of the whole install. With the signal ignored, a write beyond that limit, or the one of a full website,
 * fails with "File too large" instead of ending the program.
 */
function withFileSizeLimit({ limits }: LinuxLayout, command: [string, ...string[]]): [string, ...string[]] {
  if (!hasLimits(limits)) return command;
  const limit = limits.bytes === null ? [] : ['/usr/bin/prlimit', `--fsize=${limits.bytes}`];
  return ['/usr/bin/env', '--ignore-signal=XFSZ', ...limit, ...command];
}

/** The command that runs another as an install's user, but outside of the sandbox. Needs root. */
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

/**
 * Limits of each program that uses ImageMagick. What does not fit goes to files. Its threads would count as processes of the install.
 * The policy of the machine (`/etc/ImageMagick-6/policy.xml`) can lower them.
 */
const IMAGE_MAGICK = {
  MAGICK_MEMORY_LIMIT: '128MiB',
  MAGICK_MAP_LIMIT: '256MiB',
  MAGICK_DISK_LIMIT: '2GiB',
  MAGICK_THREAD_LIMIT: '1',
  OMP_NUM_THREADS: '1',
};

/** Environment of every program of an install. */
function baseEnvironment(layout: LinuxLayout, install: SandboxedInstall): Record<string, string> {
  const { htdocs, dotfiles, uploads } = foldersOf(layout, install);
  return {
    ...IMAGE_MAGICK,
    MAGICK_TEMPORARY_PATH: uploads,
    PATH: `${OWN_PROGRAMS}:/usr/local/bin:/usr/bin:/bin`,
    LANG: 'C.UTF-8',
    // The home in the install's `passwd`: FPM replaces HOME by that one.
    HOME: dotfiles,
    USER: install.name,
    LOGNAME: install.name,
    SHELL: '/bin/bash',
    // The shared core finds the website by this variable.
    HOMEPORT_DOC: htdocs,
    // PHP's own folder of settings, and then the install's.
    PHP_INI_SCAN_DIR: `:${SANDBOX_ETC}`,
  };
}

function environment(layout: LinuxLayout, install: SandboxedInstall, options: SandboxOptions): string[] {
  const variables = { ...baseEnvironment(layout, install), ...options.environment };
  return ['--clearenv', ...Object.entries(variables).flatMap(([name, value]) => ['--setenv', name, value])];
}

/** Debian's `/bin`, `/lib` and so on are links into `/usr` (always, since Debian 12). */
const USR_LINKS = ['bin', 'sbin', 'lib', 'lib64'];

/** Parts of `/etc` that belong to programs in `/usr`; each exists if its package is installed. */
const PROGRAM_SETTINGS = [
  'alternatives',
  'bash.bashrc',
  'fonts',
  'ImageMagick-6',
  'ImageMagick-7',
  'inputrc',
  'ld.so.cache',
  'mime.types',
  'nanorc',
  'profile',
  'protocols',
  'services',
];

/** Parts of `/etc` that are the same for the whole machine and every PHP version. */
const MACHINE_SETTINGS = ['localtime', 'resolv.conf', 'ssl/certs', 'ssl/openssl.cnf', 'timezone'];

/** Files directly in `/etc` that {@link sandboxEtcOf} provides. */
export const OWN_SETTINGS = ['group', 'hosts', 'nsswitch.conf', 'passwd'] as const;

function systemFiles({ root, version, cli }: PhpRuntime): string[] {
  return [
    ...['--ro-bind', join(root, 'usr'), '/usr'],
    ...USR_LINKS.flatMap((name) => ['--symlink', `usr/${name}`, `/${name}`]),
    ...['--ro-bind', join(root, 'etc/php', version), `/etc/php/${version}`],
    ...PROGRAM_SETTINGS.flatMap((name) => ['--ro-bind-try', join(root, 'etc', name), `/etc/${name}`]),
    ...MACHINE_SETTINGS.flatMap((name) => ['--ro-bind-try', `/etc/${name}`, `/etc/${name}`]),
    // Links into the folder: a bound file would go stale when another file replaces it.
    ...OWN_SETTINGS.flatMap((name) => ['--symlink', `homeport/${name}`, `/etc/${name}`]),
    ...['--symlink', cli, `${OWN_PROGRAMS}/php`],
    ...['--symlink', join(SANDBOX_ETC, SENDMAIL), OWN_SENDMAIL],
    // In another system's `/usr`, adminer is missing. The machine's own may get it later.
    ...(root === '/' ? ['--symlink', ADMINER, SANDBOX_ADMINER] : ['--ro-bind-try', ADMINER, SANDBOX_ADMINER]),
    ...['--proc', '/proc', '--dev', '/dev'],
    ...['--perms', '1777', '--size', `${SHM_BYTES}`, '--tmpfs', '/dev/shm'],
    ...['--perms', '1777', '--size', `${TMP_BYTES}`, '--tmpfs', '/tmp'],
    ...['--symlink', '../tmp', '/var/tmp'],
  ];
}

/** The folder is optional: it can disappear with a PHP update, and the website then compiles for itself. */
function compiledCode({ compiledCore }: SandboxedInstall, core: string): string[] {
  if (compiledCore === undefined) return [];
  const shown = join(SANDBOX_COMPILED, basename(compiledCore), core);
  return [
    ...['--size', `${COMPILED_BYTES}`, '--tmpfs', SANDBOX_COMPILED],
    ...['--ro-bind-try', join(compiledCore, core), shown],
  ];
}

/** Debian 13 has `mysql` and `mysqldump` in a package of their own. WP-CLI is optional, and its folder is bound because a bound file goes stale. */
function tools({ wpCli }: LinuxLayout): string[] {
  return [
    ...['--ro-bind-try', wpCli, SANDBOX_WP_CLI],
    ...['--symlink', `${SANDBOX_WP_CLI}/${WP_CLI_LAUNCHER}`, `${OWN_PROGRAMS}/wp`],
    ...['--symlink', '/usr/bin/mariadb', `${OWN_PROGRAMS}/mysql`],
    ...['--symlink', '/usr/bin/mariadb-dump', `${OWN_PROGRAMS}/mysqldump`],
  ];
}

function same(option: '--bind' | '--ro-bind', ...paths: string[]): string[] {
  return paths.flatMap((path) => [option, path, path]);
}
