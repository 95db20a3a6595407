import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { askFastcgi, NoAnswerError } from '../../../lib/fastcgi.ts';
import type { PhpSettings } from '../../../lib/php-limits.ts';
import {
  asUser,
  SANDBOX_ETC,
  type SandboxedInstall,
  sandboxCommand,
  sandboxEtcOf,
} from '../isolation/sandbox.ts';
import { readSystemFile, writeSystemFile } from '../isolation/system-file.ts';
import type { DaemonSpec, ResourceLimits } from '../machine/daemon.ts';
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

/**
 * Turns the stop signal into a graceful stop of PHP. Otherwise bwrap, as the outermost process, would receive it and end the
 * whole sandbox at once, requests included. PHP is its grandchild: the child of the sandbox's first process. Both bwrap
 * processes ignore SIGQUIT, like anything that a shell starts with `&`.
 *
 * A shell takes a tenth of the memory of the alternatives, and each install has one. Its commands come as arguments, and it
 * reads no files of the website.
 */
const FINISH_ON_QUIT = [
  'finish() {',
  'read -r first rest <"/proc/$sandbox/task/$sandbox/children";',
  'read -r php rest <"/proc/$first/task/$first/children";',
  'kill -QUIT "$php"; };',
  'trap finish QUIT;',
  '"$@" & sandbox=$!;',
  'while kill -0 "$sandbox" 2>/dev/null; do wait "$sandbox"; status=$?; done;',
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
 * {@link writeFpmConfig} with the same options first.
 */
export function fpmSpec({ layout, install, limits, php }: FpmOptions): DaemonSpec {
  const settings = startSettings(limits, install);
  const config = join(SANDBOX_ETC, configName({ layout, install, limits, php }));
  const fpm = [
    install.php.fpm,
    '--nodaemonize',
    '--force-stderr',
    '--fpm-config',
    config,
    ...settings,
  ] as const;
  const socket = layout.phpSocketOf(install.id);
  const sandbox = sandboxCommand(layout, install, fpm, {
    user: 'already',
    // PHP itself passes its sockets on this way when it reloads.
    environment: { FPM_SOCKETS: `${socket}=${SOCKET_FD}` },
    showCompiled: true,
  });
  const command = asUser(install, ['/bin/sh', '-c', FINISH_ON_QUIT, 'php', ...sandbox]);
  return {
    name: `php-${install.id}`,
    description: `PHP of ${install.name}`,
    command: ['/usr/bin/perl', '-e', LISTEN, socket, SOCKET_FD, ...command],
    limits,
    stopSignal: 'SIGQUIT',
    ready: () => pingPhp(socket),
  };
}

/** Writes the configuration file that {@link fpmSpec} names. Does nothing if it exists. */
export async function writeFpmConfig(options: FpmOptions): Promise<void> {
  const { layout, install } = options;
  const path = join(sandboxEtcOf(layout, install.id), configName(options));
  const text = configOf(options);
  if ((await readSystemFile(path)) !== text) {
    await writeSystemFile(path, text, { mode: 0o644, lasting: false });
  }
}

/** Contains a hash, so that PHP restarts when its configuration changes, and keeps its own after a crash. */
function configName(options: FpmOptions): string {
  const hash = createHash('sha256').update(configOf(options)).digest('hex');
  return `fpm-${hash.slice(0, 16)}.conf`;
}

function configOf({ layout, install, limits, php = standardPhp(limits) }: FpmOptions): string {
  return fpmConfig(layout, install, php);
}

/** Rejects if PHP does not run. It counts as ready even if all workers are busy: it has taken the request, and the website decides how long it works. */
export async function pingPhp(socket: string): Promise<void> {
  const request = { REQUEST_METHOD: 'GET', SCRIPT_NAME: PING_PATH, SCRIPT_FILENAME: PING_PATH };
  try {
    const { status, body } = await askFastcgi(socket, request, { timeoutMs: PING_WITHIN_MS });
    if (status !== 200 || body !== 'pong') throw new Error(`PHP answers ${status} to a ping`);
  } catch (error) {
    if (!(error instanceof NoAnswerError)) throw error;
  }
}
