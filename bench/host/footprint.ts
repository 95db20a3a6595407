import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LinuxLayout } from '../../src/hosting/linux/machine/layout.ts';
import { hasCode } from '../../src/lib/error-code.ts';
import { runCommand } from '../../src/lib/run-command.ts';
import type { TestMachine } from '../../test/host/machine.ts';

/** Memory in bytes: private memory of processes plus their part of shared memory (PSS). */
export interface Memory {
  nginx: number;
  php: number;
  redis: number;
  mariadb: number;
}

interface Process {
  pid: number;
  parent: number;
  uid: number;
  command: string;
}

const WORKERS_END_WITHIN_MS = 100_000;

/** Memory of a host's daemons. */
export async function memoryOf(machine: TestMachine): Promise<Memory> {
  const { config, folder } = machine;
  const all = await processes();
  const own = all.filter(({ uid }) => uid >= config.hostUids.first && uid <= config.hostUids.last);
  const isRedis = ({ command }: Process) => command.includes('redis-server');
  const master = await nginxOf(machine);
  return {
    nginx: await sizeOf(all.filter(({ pid, parent }) => pid === master || parent === master)),
    php: await sizeOf(own.filter((one) => !isRedis(one))),
    redis: await sizeOf(own.filter(isRedis)),
    mariadb: await sizeOf(
      all.filter(({ command }) => /^\S*mariadbd\s/.test(command) && command.includes(folder)),
    ),
  };
}

/** Process id of a host's nginx. */
export async function nginxOf({ folder }: TestMachine): Promise<number> {
  const all = await processes();
  const master = all.find(({ command }) => command.startsWith('nginx: master') && command.includes(folder));
  if (master === undefined) throw new Error('nginx does not run');
  return master.pid;
}

/** Processor time of the processes below one, in milliseconds. */
export async function processorMs(master: number): Promise<number> {
  let hundredths = 0;
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    // A process may end meanwhile.
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
    // Fields 4, 14 and 15 of proc(5) stat; the name before them may hold spaces.
    const fields = stat.split(') ').at(-1)?.split(' ') ?? [];
    if (Number(fields[1]) === master) hundredths += Number(fields[11]) + Number(fields[12]);
  }
  return hundredths * 10;
}

/** Milliseconds of processor time. */
export interface ProcessorTime {
  nginx: number;
  php: number;
  /** MariaDB and the installs' Redis. */
  database: number;
  /** The host's own process. */
  host: number;
}

export const totalOf = ({ nginx, php, database, host }: ProcessorTime): number =>
  nginx + php + database + host;

/** Processor time that a host has taken so far. Workers of PHP that have ended count, and programs that the host's process has run do not. */
export async function processorTimeOf(machine: TestMachine, hostPid: number): Promise<ProcessorTime> {
  const { config, folder } = machine;
  const all = await processes();
  const own = all.filter(({ uid }) => uid >= config.hostUids.first && uid <= config.hostUids.last);
  const isRedis = ({ command }: Process) => command.includes('redis-server');
  const isMariadb = ({ command }: Process) => /^\S*mariadbd\s/.test(command) && command.includes(folder);
  const master = await nginxOf(machine);
  const sum = async (some: Process[], withEnded = false) =>
    (await Promise.all(some.map(({ pid }) => ownProcessorMs(pid, withEnded)))).reduce(
      (one, other) => one + other,
      0,
    );
  return {
    nginx: await sum(all.filter(({ pid, parent }) => pid === master || parent === master)),
    php: await sum(
      own.filter((one) => !isRedis(one)),
      true,
    ),
    database: await sum([...own.filter(isRedis), ...all.filter(isMariadb)]),
    host: await sum(all.filter(({ pid }) => pid === hostPid)),
  };
}

/** Milliseconds of processor time that a host's process, the programs that it ran and its MariaDB have taken so far. */
export async function processorWithPrograms({ folder }: TestMachine, hostPid: number): Promise<number> {
  const mariadb = (await processes()).filter(
    ({ command }) => /^\S*mariadbd\s/.test(command) && command.includes(folder),
  );
  const parts = await Promise.all([
    ownProcessorMs(hostPid, true),
    ...mariadb.map(({ pid }) => ownProcessorMs(pid, false)),
  ]);
  return parts.reduce((one, other) => one + other, 0);
}

async function ownProcessorMs(pid: number, withEnded: boolean): Promise<number> {
  // Fields 14 and 15 of proc(5) stat; 16 and 17 of its children that have ended.
  const fields = (await readProc(String(pid), 'stat')).split(') ').at(-1)?.split(' ') ?? [];
  return fields.slice(11, withEnded ? 15 : 13).reduce((ms, hundredths) => ms + Number(hundredths) * 10, 0);
}

/** Waits until no PHP of this host has workers, which end when idle. */
export async function untilIdle({ config }: TestMachine): Promise<void> {
  const until = performance.now() + WORKERS_END_WITHIN_MS;
  for (;;) {
    const workers = (await processes()).filter(
      ({ uid, command }) =>
        uid >= config.hostUids.first && uid <= config.hostUids.last && command.startsWith('php-fpm: pool'),
    );
    if (workers.length === 0) return;
    if (performance.now() > until) throw new Error(`${workers.length} workers of PHP do not end`);
    await sleep(1_000);
  }
}

/** Bytes on disk of all installs: files, databases, caches, records; without the shared core. */
export async function diskOf(layout: LinuxLayout): Promise<number> {
  const tables = join(layout.mariadb, 'data');
  const databases = (await readdir(tables)).filter((name) => name.startsWith('hp_'));
  if (databases.length === 0) throw new Error(`there are no databases in ${tables}`);
  const folders = [
    layout.installs,
    layout.caches,
    layout.records,
    join(layout.nginx, 'edge'),
    ...databases.map((name) => join(tables, name)),
  ];
  const { stdout } = await runCommand('/usr/bin/du', [
    '--summarize',
    '--total',
    '--block-size=1',
    '--',
    ...folders,
  ]);
  return Number(/^(\d+)\ttotal$/m.exec(stdout)?.[1]);
}

async function processes(): Promise<Process[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    pids.map(async (pid): Promise<Process[]> => {
      const [status, command] = [await readProc(pid, 'status'), await readProc(pid, 'cmdline')];
      return [
        {
          pid: Number(pid),
          parent: Number(/^PPid:\s+(\d+)/m.exec(status)?.[1]),
          uid: Number(/^Uid:\s+(\d+)/m.exec(status)?.[1]),
          command: command.replaceAll('\0', ' '),
        },
      ];
    }),
  );
  return found.flat();
}

async function sizeOf(some: Process[]): Promise<number> {
  const sizes = await Promise.all(
    some.map(async ({ pid }) =>
      Number(/^Pss:\s+(\d+)/m.exec(await readProc(String(pid), 'smaps_rollup'))?.[1] ?? 0),
    ),
  );
  return sizes.reduce((sum, size) => sum + size, 0) * 1024;
}

/** Empty if the process has ended. */
async function readProc(pid: string, name: string): Promise<string> {
  try {
    return await readFile(join('/proc', pid, name), 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ESRCH')) return '';
    throw error;
  }
}
