import { createHash } from 'node:crypto';
import { join } from 'node:path';
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
import { askFastcgi, NoAnswerError } from './fastcgi.ts';
import { fpmConfig, PING_PATH, startSettings } from './fpm-config.ts';

export interface FpmOptions {
  layout: LinuxLayout;
  install: SandboxedInstall;
  /** What the PHP of the install may take. */
  limits: ResourceLimits;
}

/** How long a ping may take until PHP counts as busy. */
const PATIENCE_MS = 1_000;

/**
 * Hands on to PHP that it is to finish. The outermost process is told so, which otherwise were bwrap: that knows no signals, and takes
 * the whole sandbox with it at once, requests that are under way included. PHP is its grandchild, the child of the first
 * process in there; both of bwrap's run with SIGQUIT ignored, as whatever a shell starts by `&`.
 *
 * A shell, as it takes a tenth of the memory of anything else that could do it, and there is one for each install. What it is to run comes as
 * arguments, and it reads nothing of the website's.
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

/** Where PHP finds the socket that it takes requests from. */
const SOCKET_FD = '9';

/**
 * Listens at the socket of PHP, as root in a folder of root's, and becomes the command behind, which takes it over: a website that
 * made its socket itself could put a link to another socket in its place, and have the web server's requests go there.
 * Perl, as Debian always has it; it is gone when PHP runs.
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
 * The PHP of an install: a process manager of its own in the sandbox, which answers FastCGI at `layout.phpSocketOf(id)`. Its
 * configuration has to be written before, by {@link writeFpmConfig} with the same options.
 */
export function fpmSpec({ layout, install, limits }: FpmOptions): DaemonSpec {
  const settings = startSettings(limits, install);
  const config = join(SANDBOX_ETC, configName({ layout, install, limits }));
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
    // As PHP itself hands its sockets on when it is reloaded.
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
    ready: () => ping(socket),
  };
}

/** Writes the configuration that {@link fpmSpec} names, for PHP to read when it starts. Does nothing if it is there. */
export async function writeFpmConfig(options: FpmOptions): Promise<void> {
  const { layout, install, limits } = options;
  const path = join(sandboxEtcOf(layout, install.id), configName(options));
  const text = fpmConfig(layout, install, limits);
  if ((await readSystemFile(path)) !== text) {
    await writeSystemFile(path, text, { mode: 0o644, lasting: false });
  }
}

/** Named by what is in it, so that PHP is started anew with another configuration, and with its own after a crash. */
function configName({ layout, install, limits }: FpmOptions): string {
  const hash = createHash('sha256')
    .update(fpmConfig(layout, install, limits))
    .digest('hex');
  return `fpm-${hash.slice(0, 16)}.conf`;
}

/** One whose workers are all at work takes the request too, and is no less up: what they are at is the website's affair. */
async function ping(socket: string): Promise<void> {
  const request = { REQUEST_METHOD: 'GET', SCRIPT_NAME: PING_PATH, SCRIPT_FILENAME: PING_PATH };
  try {
    const { status, body } = await askFastcgi(socket, request, { timeoutMs: PATIENCE_MS });
    if (status !== 200 || body !== 'pong') throw new Error(`PHP answers ${status} to a ping`);
  } catch (error) {
    if (!(error instanceof NoAnswerError)) throw error;
  }
}
