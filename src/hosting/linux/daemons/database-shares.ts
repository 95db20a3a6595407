import { readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { type Repetition, repeatEvery } from '../../../lib/concurrency.ts';
import { hasCode } from '../../../lib/error-code.ts';
import { messageOf } from '../../../lib/error-message.ts';
import { runCommand } from '../../../lib/run-command.ts';
import type { LinuxLayout } from '../machine/layout.ts';
import { busyConnections, type DatabaseConnection, halfOf } from './connection-shares.ts';
import { DATABASE_USER, databasePidFile } from './mariadb.ts';
import { runStatements } from './mariadb-client.ts';

/** Lets connections that take much processor time wait for those of other websites (docs/decisions/walls.md). */
export interface DatabaseShares {
  start(): void;
  stop(): Promise<void>;
  /** One look at the server. */
  look(): Promise<void>;
  /** Why busy connections do not wait, one sentence; null if they do. */
  check(): string | null;
}

const EVERY_MS = 1_000;
/** The server as a whole takes less: all of its websites have what they want. */
const LEAST_PROCESSORS = 0.5;
/** Unit of times in proc_pid_stat(5) on x86-64 and arm64. */
const TICK_MS = 10;

/**
 * A thread of the server belongs to one connection and ends with it, as does its priority: root of a container may not raise it again.
 * Set at each look, because a server that crashed starts without it. In its configuration, it would restart the server of present hosts.
 */
const THREAD_FOR_EACH = 'SET GLOBAL thread_cache_size = 0';
const CONNECTIONS = `SELECT ID, USER, TID FROM information_schema.PROCESSLIST WHERE USER NOT IN ('root', 'system user')`;

export function createDatabaseShares(options: {
  layout: LinuxLayout;
  /** Whether the server has a cgroup: its threads then wait for each other only, and not for all of PHP, which would make others wait for their locks. */
  hasGroup: boolean;
  log: Logger;
  /** Processors of the machine; tests give others. */
  processors?: number;
}): DatabaseShares {
  const { layout, hasGroup, log, processors = availableParallelism() } = options;
  const pidFile = databasePidFile(layout);
  let repetition: Repetition | undefined;
  let failure: string | null = null;
  let last = { pid: '', usedMs: 0, at: 0 };
  /** Processor time of each connection at the last look. */
  let before = new Map<string, number>();
  /** Connections that wait for others already. */
  let lowered = new Set<string>();

  async function look(): Promise<void> {
    const pid = (await readProcess(pidFile))?.trim() ?? '';
    const usedMs = pid === '' ? null : await processorMs(`/proc/${pid}`);
    const previous = last;
    last = { pid, usedMs: usedMs ?? 0, at: performance.now() };
    const elapsedMs = last.at - previous.at;
    if (usedMs === null || pid !== previous.pid) return;
    if (usedMs - previous.usedMs < elapsedMs * Math.min(LEAST_PROCESSORS, processors / 2)) return;
    const connections = await connectionsOf(pid);
    const busy = busyConnections(connections, { before, elapsedMs, processors });
    for (const connection of busy) if (!lowered.has(connection.id)) await lower(pid, connection);
    before = new Map(connections.map((connection) => [connection.id, connection.usedMs]));
    lowered = new Set(
      busy.map(({ id }) => id).concat(connections.flatMap(({ id }) => (lowered.has(id) ? id : []))),
    );
    failure = null;
  }

  async function connectionsOf(pid: string): Promise<DatabaseConnection[]> {
    const rows = await runStatements(layout.mariadbSocket, 'root', `${THREAD_FOR_EACH}; ${CONNECTIONS}`);
    const found = rows.map(async ([id = '', user = '', thread = '']) => {
      const usedMs = await processorMs(`/proc/${pid}/task/${thread}`);
      return usedMs === null ? [] : [{ id, user, thread: Number(thread), usedMs }];
    });
    return (await Promise.all(found)).flat();
  }

  /**
   * SCHED_IDLE of sched(7): the thread runs when no other one of the server wants the processor. On half of the processors, because PHP and nginx,
   * which are in other cgroups, would still compete with it. The user of the server may set both, also in a container.
   */
  async function lower(pid: string, { user, thread }: DatabaseConnection): Promise<void> {
    const half = halfOf(await allowedProcessors(pid));
    try {
      await asServer(['/usr/bin/chrt', '--idle', '--pid', '0', String(thread)]);
      if (half !== null) await asServer(['/usr/bin/taskset', '--pid', '--cpu-list', half, String(thread)]);
      log.info({ user }, 'a busy database connection waits for other websites');
    } catch (error) {
      if ((await processorMs(`/proc/${pid}/task/${thread}`)) !== null) throw error;
    }
  }

  return {
    look,
    check: () => failure,
    start() {
      if (!hasGroup) return;
      repetition ??= repeatEvery(look, {
        delayMs: EVERY_MS,
        onError(err) {
          if (failure === null) log.warn({ err }, 'busy database connections do not wait for other websites');
          failure = messageOf(err);
        },
      });
    },
    async stop() {
      await repetition?.stop();
      repetition = undefined;
    },
  };
}

async function asServer(command: readonly string[]): Promise<void> {
  const identity = [
    `--reuid=${DATABASE_USER}`,
    `--regid=${DATABASE_USER}`,
    '--clear-groups',
    '--no-new-privs',
  ];
  await runCommand('/usr/bin/setpriv', [...identity, '--', ...command]);
}

/** The processors of a process, as `0-3,8` (proc_pid_status(5)). */
async function allowedProcessors(pid: string): Promise<string> {
  const status = (await readProcess(`/proc/${pid}/status`)) ?? '';
  return /^Cpus_allowed_list:\t(.+)$/m.exec(status)?.[1] ?? '';
}

/** Processor time of a process or thread so far, by proc_pid_stat(5); null if it has ended. */
async function processorMs(folder: string): Promise<number | null> {
  const stat = await readProcess(join(folder, 'stat'));
  if (stat === null) return null;
  // The name of the program, in parentheses, may have spaces. utime and stime are the 12th and 13th fields after it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

async function readProcess(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ESRCH')) return null;
    throw error;
  }
}
