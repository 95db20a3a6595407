import { constants } from 'node:fs';
import { lstat, open } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { dirname } from 'node:path';
import { hasCode } from '../../../lib/error-code.ts';
import { PermanentHostError } from '../../contract/host.ts';
import { asUser, type SandboxedInstall } from '../isolation/sandbox.ts';
import type { DaemonSpec } from '../machine/daemon.ts';
import type { LinuxLayout } from '../machine/layout.ts';

const DEFAULT_MEMORY_MB = 64;
/** What Redis takes besides what is kept in it. */
const OWN_MEMORY_MB = 32;
const ANSWER_WITHIN_MS = 5_000;

/**
 * Commands that reach beyond what is kept: configuration, code, files, other servers, the process. A website needs none; the
 * worst faults of Redis were in them.
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
 * The Redis of an install: a process of its own under its uid, in the sandbox, reached by a Unix socket alone. It keeps nothing
 * over a restart, and when `memoryMb` are full it forgets what was not used for longest.
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
 * Less than the sandbox of the install's PHP: the machine's own programs (whichever system that PHP is from), the folder of
 * the socket and nothing else, no network either.
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
 * Forgets everything that an install has in its Redis. One that does not run has nothing. In force when it resolves.
 * `socket` is `layout.redisSocketOf(…)`.
 */
export async function emptyRedis(socket: string): Promise<void> {
  try {
    const answer = await askRedis(socket, 'FLUSHALL SYNC');
    if (answer !== '+OK') throw new Error(`Redis answers ${answer} when it is to be emptied`);
  } catch (error) {
    if (!hasCode(error, 'ENOENT', 'ECONNREFUSED')) throw error;
  }
}

/** Sends a command in Redis's inline form, and gives the first line of what comes. */
async function askRedis(socket: string, command: string): Promise<string> {
  const inode = await openSocket(socket);
  try {
    return await firstLine(connect(`/proc/self/fd/${inode.fd}`), command);
  } finally {
    await inode.close();
  }
}

/** open(2): a handle that stands for the file and opens nothing. Node does not name it. */
const O_PATH = 0o10000000;

/**
 * The folder belongs to the install, which may have put a link to somebody else's socket there. So the very socket that was looked
 * at is what is connected to, by way of `/proc/self/fd`, and only if it is of the same owner as the folder of its sockets,
 * which stands in a folder of root's.
 */
async function openSocket(path: string): Promise<{ fd: number; close(): Promise<void> }> {
  const owner = (await lstat(dirname(dirname(path)))).uid;
  const inode = await open(path, O_PATH | constants.O_NOFOLLOW);
  const found = await inode.stat();
  if (found.isSocket() && found.uid === owner) return inode;
  await inode.close();
  throw new PermanentHostError(`${path} is not the socket of its own Redis`);
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
