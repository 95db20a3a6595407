import { constants } from 'node:fs';
import { lstat, open } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { dirname } from 'node:path';
import { hasCode } from '../../../lib/error-code.ts';
import { PermanentHostError } from '../../contract/errors.ts';
import { asUser, type SandboxedInstall } from '../isolation/sandbox.ts';
import type { DaemonSpec } from '../machine/daemon.ts';
import type { LinuxLayout } from '../machine/layout.ts';

const DEFAULT_MEMORY_MB = 64;
/** Memory of Redis besides the stored values. */
const OWN_MEMORY_MB = 32;
const ANSWER_WITHIN_MS = 5_000;

/**
 * Commands that reach beyond stored values: configuration, code, files, other servers, the process. Websites need none of
 * them, and Redis's worst vulnerabilities were in them.
 */
const FORBIDDEN = [
  'ACL',
  'BGREWRITEAOF',
  'BGSAVE',
  'CLUSTER',
  'CONFIG',
  'DEBUG',
  'EVAL',
  'EVALSHA',
  'EVALSHA_RO',
  'EVAL_RO',
  'FAILOVER',
  'FCALL',
  'FCALL_RO',
  'FUNCTION',
  'LATENCY',
  'MIGRATE',
  'MODULE',
  'MONITOR',
  'PSYNC',
  'REPLCONF',
  'REPLICAOF',
  'RESTORE',
  'RESTORE-ASKING',
  'SAVE',
  'SCRIPT',
  'SHUTDOWN',
  'SLAVEOF',
  'SLOWLOG',
  'SYNC',
];

/**
 * An install's Redis: a separate sandboxed process under the install's uid, reached only by a Unix socket. A restart loses all
 * values. When `memoryMb` are full, it evicts the least recently used values.
 */
export function redisSpec(options: {
  layout: LinuxLayout;
  install: SandboxedInstall;
  memoryMb?: number;
}): DaemonSpec {
  const { layout, install, memoryMb = DEFAULT_MEMORY_MB } = options;
  const socket = layout.redisSocketOf(install.id);
  return {
    name: `redis-${install.id}`,
    description: `Redis of ${install.name}`,
    command: redisCommand(install, layout.redisRunOf(install.id), redisArguments(socket, memoryMb)),
    limits: { memoryMb: 2 * memoryMb + OWN_MEMORY_MB, cpuPercent: 100, processes: 32 },
    async ready() {
      const answer = await askRedis(socket, 'PING');
      if (answer !== '+PONG') throw new Error(`Redis answers ${answer}`);
    },
  };
}

/**
 * A tighter sandbox than that of PHP: the machine's own programs, regardless of the PHP version's system, the folder of the
 * socket and nothing else. No network.
 */
function redisCommand(
  install: SandboxedInstall,
  folder: string,
  settings: readonly string[],
): [string, ...string[]] {
  return asUser(install, [
    '/usr/bin/bwrap',
    ...['--unshare-all', '--unshare-user', '--disable-userns'],
    ...['--die-with-parent', '--new-session', '--clearenv'],
    ...['--ro-bind', '/usr', '/usr', '--ro-bind-try', '/etc/ld.so.cache', '/etc/ld.so.cache'],
    ...['bin', 'lib', 'lib64'].flatMap((name) => ['--symlink', `usr/${name}`, `/${name}`]),
    ...['--proc', '/proc', '--dev', '/dev', '--bind', folder, folder],
    ...['--remount-ro', '/', '--chdir', '/', '--'],
    ...['/usr/bin/redis-server', ...settings],
  ]);
}

function redisArguments(socket: string, memoryMb: number): string[] {
  const settings: Record<string, string> = {
    port: '0',
    unixsocket: socket,
    unixsocketperm: '700',
    daemonize: 'no',
    dir: '/',
    save: '',
    appendonly: 'no',
    databases: '1',
    maxclients: '256',
    maxmemory: `${memoryMb}mb`,
    'maxmemory-policy': 'allkeys-lru',
    'client-output-buffer-limit': 'normal 16mb 8mb 10',
    loglevel: 'warning',
    'always-show-logo': 'no',
  };
  return [
    ...Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]),
    ...FORBIDDEN.flatMap((name) => ['--rename-command', name, '']),
  ];
}

/**
 * Deletes all values of an install's Redis before it resolves. Succeeds if Redis does not run. `socket` is
 * `layout.redisSocketOf(…)`.
 */
export async function flushRedis(socket: string): Promise<void> {
  try {
    const answer = await askRedis(socket, 'FLUSHALL SYNC');
    if (answer !== '+OK') throw new Error(`Redis flush failed: ${answer}`);
  } catch (error) {
    if (!hasCode(error, 'ENOENT', 'ECONNREFUSED')) throw error;
  }
}

/** Sends a command in Redis's inline form, and returns the first line of the answer. */
async function askRedis(socket: string, command: string): Promise<string> {
  const inode = await openSocket(socket);
  try {
    return await firstLine(connect(`/proc/self/fd/${inode.fd}`), command);
  } finally {
    await inode.close();
  }
}

/** open(2): a handle for the file that does not open it. Node has no constant for it. */
const O_PATH = 0o10000000;

/**
 * The install owns the folder, so the path could be a link to another's socket. Connecting through `/proc/self/fd` reaches the
 * very socket that was checked: it must have the same owner as the folder of the install's sockets, whose parent belongs to
 * root.
 */
async function openSocket(path: string): Promise<{ fd: number; close(): Promise<void> }> {
  const owner = (await lstat(dirname(dirname(path)))).uid;
  const inode = await open(path, O_PATH | constants.O_NOFOLLOW);
  const found = await inode.stat();
  if (found.isSocket() && found.uid === owner) return inode;
  await inode.close();
  throw new PermanentHostError(`${path} is not the socket of the install's Redis`);
}

function firstLine(connection: Socket, command: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let received = '';
    connection.setEncoding('latin1');
    connection.setTimeout(ANSWER_WITHIN_MS, () => connection.destroy(new Error('Redis does not answer')));
    connection.once('connect', () => connection.write(`${command}\r\n`));
    connection.on('data', (text: string) => {
      received += text;
      const end = received.indexOf('\r\n');
      if (end < 0 && received.length < 1024) return;
      resolve(received.slice(0, Math.max(end, 0)));
      connection.destroy();
    });
    connection.once('error', reject);
    connection.once('close', () => reject(new Error('Redis closed the connection')));
  });
}
