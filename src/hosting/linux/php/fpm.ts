import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { hasCode } from '../../../lib/error-code.ts';
import { askFastcgi, NoAnswerError } from '../../../lib/fastcgi.ts';
import type { PhpSettings } from '../../../lib/php-limits.ts';
import { programScript } from '../daemons/kept-program.ts';
import {
  asUser,
  SANDBOX_ETC,
  type SandboxedInstall,
  sandboxCommand,
  sandboxEtcOf,
} from '../isolation/sandbox.ts';
import { readSystemFile, writeSystemFile } from '../isolation/system-file.ts';
import type { DaemonSpec, Daemons, ResourceLimits } from '../machine/daemon.ts';
import type { LinuxLayout } from '../machine/layout.ts';
import { fpmConfig, PING_PATH, standardPhp, startSettings } from './fpm-config.ts';

export interface FpmOptions {
  layout: LinuxLayout;
  install: SandboxedInstall;
  /** Limits of the install's PHP. */
  limits: ResourceLimits;
  /** Limits of its requests; the defaults for `limits` if left out. */
  php?: PhpSettings | undefined;
}

/** A slower ping means that PHP is busy. */
const PING_WITHIN_MS = 1_000;
const DRAIN_WITHIN_MS = 5_000;

/**
 * Keeps PHP's socket while PHP starts again, so that requests wait and none fails. At SIGUSR2, PHP finishes its requests and ends. The shell
 * then runs the program file again, which can be another one by then.
 *
 * Turns the stop signal into a graceful stop of PHP. Otherwise the outermost process of the sandbox would receive it and end all of
 * it at once, requests included. Between that process, which makes sockets, and PHP are two of bwrap. All three ignore SIGQUIT, like
 * anything that a shell starts with `&`.
 *
 * A shell takes a tenth of the memory of the alternatives, and each install has one. It reads no files of the website.
 */
const KEEP_SOCKET = [
  'finish() {',
  'pid=$sandbox;',
  'for inner in outermost first php; do read -r pid rest <"/proc/$pid/task/$pid/children"; done;',
  'kill -QUIT "$pid"; };',
  'trap "again=; finish" QUIT;',
  'trap "again=yes; finish" USR2;',
  'again=yes;',
  'while [ "$again" ]; do',
  'again=;',
  '( . "$1" ) & sandbox=$!;',
  'while kill -0 "$sandbox" 2>/dev/null; do wait "$sandbox"; status=$?; done;',
  'done;',
  'exit "$status"',
].join(' ');

/** Descriptor of the socket that PHP takes requests from. */
const SOCKET_FD = '9';

/**
 * Listens on PHP's socket as root, in a folder of root, and then becomes the command, which inherits the socket. A website
 * that created its own socket could replace it by a link, and so redirect the web server's requests to another socket. Perl,
 * because Debian always has it; it is gone once PHP runs.
 */
const LISTEN = [
  'use Socket; use POSIX ();',
  'my ($path, $fd) = splice @ARGV, 0, 2;',
  'unlink $path;',
  'my $socket;',
  'socket($socket, PF_UNIX, SOCK_STREAM, 0) && bind($socket, sockaddr_un($path)) && listen($socket, 511)',
  '&& chmod(0666, $path) && POSIX::dup2(fileno($socket), $fd) or die "cannot listen at $path: $!\\n";',
  'exec { $ARGV[0] } @ARGV or die "cannot run $ARGV[0]: $!\\n";',
].join(' ');

/**
 * The PHP of an install: its own process manager in the sandbox, which answers FastCGI at `layout.phpSocketOf(id)`. Call
 * {@link writeFpmFiles} with the same options first.
 */
export function fpmSpec(options: FpmOptions): DaemonSpec {
  const { layout, install, limits } = options;
  const socket = layout.phpSocketOf(install.id);
  const keeper = ['/bin/sh', '-c', KEEP_SOCKET, 'php', programFileOf(options)];
  return {
    name: `php-${install.id}`,
    description: `PHP of ${install.name}`,
    command: ['/usr/bin/perl', '-e', LISTEN, socket, SOCKET_FD, ...asUser(install, keeper)],
    program: programScript(fpmCommand(options)).mark,
    limits,
    stopSignal: 'SIGQUIT',
    ready: () => pingPhp(socket),
  };
}

/** PHP in the sandbox, for a process of the install's user. */
function fpmCommand(options: FpmOptions): [string, ...string[]] {
  const { layout, install, limits } = options;
  const config = join(SANDBOX_ETC, configName(options));
  const fpm = [
    ...([install.php.fpm, '--nodaemonize', '--force-stderr', '--fpm-config', config] as const),
    ...startSettings(limits, install),
  ] as const;
  return sandboxCommand(layout, install, fpm, {
    user: 'already',
    // PHP itself passes its sockets on this way when it reloads.
    environment: { FPM_SOCKETS: `${layout.phpSocketOf(install.id)}=${SOCKET_FD}` },
    showCompiled: true,
  });
}

/** Writes the configuration and the program file that {@link fpmSpec} names. Leaves alone what is right. */
export async function writeFpmFiles(options: FpmOptions): Promise<void> {
  const config = join(sandboxEtcOf(options.layout, options.install.id), configName(options));
  await writeIfOther(config, configOf(options));
  await writeIfOther(programFileOf(options), programScript(fpmCommand(options)).text);
}

async function writeIfOther(path: string, text: string): Promise<void> {
  if ((await readSystemFile(path)) !== text)
    await writeSystemFile(path, text, { mode: 0o644, lasting: false });
}

function programFileOf({ layout, install }: FpmOptions): string {
  return join(sandboxEtcOf(layout, install.id), 'php-fpm.sh');
}

/** Contains a hash, so that PHP starts again when its configuration changes, and keeps its own after a crash. */
function configName(options: FpmOptions): string {
  const hash = createHash('sha256').update(configOf(options)).digest('hex');
  return `fpm-${hash.slice(0, 16)}.conf`;
}

function configOf({ layout, install, limits, php = standardPhp(limits) }: FpmOptions): string {
  return fpmConfig(layout, install, php);
}

/** Rejects if PHP does not run. It counts as ready even if all workers are busy: it has taken the request, and the website decides how long it works. */
export async function pingPhp(socket: string): Promise<void> {
  try {
    await expectPong(socket, PING_WITHIN_MS);
  } catch (error) {
    if (!(error instanceof NoAnswerError)) throw error;
  }
}

async function expectPong(socket: string, timeoutMs: number): Promise<void> {
  const request = { REQUEST_METHOD: 'GET', SCRIPT_NAME: PING_PATH, SCRIPT_FILENAME: PING_PATH };
  const { status, body } = await askFastcgi(socket, request, { timeoutMs });
  if (status !== 200 || body !== 'pong') throw new Error(`PHP answers ${status} to a ping`);
}

/**
 * Waits for some seconds until PHP has taken the requests that wait at its socket. It takes them in turn, so one more is the last. False if
 * some may still wait: they take longer, too many wait for one more to be accepted, or the website answers what it likes.
 */
export async function drainPhp(socket: string, timeoutMs = DRAIN_WITHIN_MS): Promise<boolean> {
  try {
    await expectPong(socket, timeoutMs);
    return true;
  } catch (error) {
    // Nothing waits where nothing listens.
    return hasCode(error, 'ECONNREFUSED', 'ENOENT');
  }
}

/**
 * Starts PHP again, so that no request which has come before can work any more. Those that wait at the socket would begin after a restart.
 * So they are taken first, or are reset with the socket. `name`: of the daemon. `start`: ensures it.
 */
export async function endRequests(
  daemons: Pick<Daemons, 'restart' | 'remove'>,
  php: { name: string; socket: string; start(): Promise<void> },
  drainWithinMs?: number,
): Promise<void> {
  if (await drainPhp(php.socket, drainWithinMs)) return daemons.restart(php.name);
  await daemons.remove(php.name);
  await php.start();
}
