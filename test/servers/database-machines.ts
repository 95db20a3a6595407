import { type ChildProcess, spawn } from 'node:child_process';
import {
  chownSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { sendSignal } from '../../src/hosting/linux/daemons/leftovers.ts';
import { drawOwn } from './draw-own.ts';
import { unprivilegedIdentity } from './postgres-server.ts';

/** Three machines as docs/several-machines.md sets them up: PostgreSQL under Patroni, etcd, and HAProxy for who connects. */
export interface DatabaseMachines {
  /** For processes of machine 1, 2 or 3, by their own HAProxy. */
  urlOf(machine: number): string;
  /** The number of the machine with the primary, as Patroni says. Polls until there is one. */
  primary(): Promise<number>;
  /** Waits until so many machines replicate, at least one of them synchronously. */
  untilReplicated(standbys: number): Promise<void>;
  /** Ends everything on a machine at once, as a power cut would. */
  lose(machine: number): void;
  /** Starts what {@link lose} ended. */
  bringBack(machine: number): Promise<void>;
  stop(): Promise<void>;
}

const MACHINES = [1, 2, 3];
const EXAMPLES = join(import.meta.dirname, '../../deploy/several-machines');
const PASSWORD = 'CHANGE-ME-1';
const PATIENCE_MS = 120_000;

/** `binaries`: the folder of PostgreSQL's programs. Machine 1 is 127.x.y.1. */
export async function startDatabaseMachines(binaries: string): Promise<DatabaseMachines> {
  const root = mkdtempSync(join(tmpdir(), 'homeport-machines-'));
  const identity = unprivilegedIdentity();
  if (identity) chownSync(root, identity.uid, identity.gid);
  const network = `127.${drawOwn(20, 250)}.${drawOwn(1, 250)}`;
  const running = new Map<number, ChildProcess[]>();

  /** An example for a machine, with its name, its addresses and its folders. */
  function example(name: string, machine: number): string {
    const lines = readFileSync(join(EXAMPLES, name), 'utf8').split('\n');
    const own = lines.map((line, index) =>
      line.includes('# this machine') || (name === 'etcd' && index >= 2 && index < 7)
        ? line.replaceAll('10.0.0.1', `10.0.0.${machine}`).replaceAll('db1', `db${machine}`)
        : line,
    );
    return (
      own
        .join('\n')
        .replaceAll('127.0.0.1:', `10.0.0.${machine}:`)
        // The kernel's choice for connections on the loopback interface.
        .replaceAll(/10\.0\.0\.\d\/32/g, '127.0.0.0/8')
        .replaceAll('10.0.0.', `${network}.`)
        .replaceAll('/usr/lib/postgresql/15/bin', binaries)
        .replaceAll('/var/lib/postgresql/15/homeport', join(folderOf(machine), 'postgresql'))
        .replaceAll('/var/lib/etcd/homeport', join(folderOf(machine), 'etcd'))
        .replaceAll('/var/run/postgresql', folderOf(machine))
        .replace('    - local all all peer', '    - local all all trust')
        // Only root can become another user.
        .replaceAll(/^ +(?:user|group) haproxy\n/gm, '')
    );
  }

  const folderOf = (machine: number) => join(root, `db${machine}`);
  const fileOf = (name: string, machine: number) => {
    const file = join(folderOf(machine), name);
    writeFileSync(file, example(name, machine));
    if (identity) chownSync(file, identity.uid, identity.gid);
    return file;
  };

  function run(machine: number, program: string, args: string[], env: Record<string, string> = {}): void {
    const log = openSync(join(folderOf(machine), `${basename(program)}.log`), 'a');
    const child = spawn(program, args, {
      ...identity,
      cwd: folderOf(machine),
      env: { PATH: process.env.PATH ?? '', HOME: folderOf(machine), ...env },
      stdio: ['ignore', log, log],
      detached: true,
    });
    closeSync(log);
    running.set(machine, [...(running.get(machine) ?? []), child]);
  }

  function start(machine: number): void {
    const folder = folderOf(machine);
    mkdirSync(folder, { recursive: true, mode: 0o755 });
    if (identity) chownSync(folder, identity.uid, identity.gid);
    const settings = example('etcd', machine)
      .split('\n')
      .filter((line) => /^ETCD_/.test(line));
    run(
      machine,
      'etcd',
      [],
      Object.fromEntries(
        settings.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
      ),
    );
    run(machine, 'patroni', [fileOf('patroni.yml', machine)]);
    run(machine, '/usr/sbin/haproxy', ['-f', fileOf('haproxy.cfg', machine), '-db']);
  }

  async function statusOf(machine: number, path: string): Promise<number> {
    try {
      return (await fetch(`http://${network}.${machine}:8008${path}`, { signal: AbortSignal.timeout(2_000) }))
        .status;
    } catch {
      return 0;
    }
  }

  async function eventually<Result>(what: string, look: () => Promise<Result | undefined>): Promise<Result> {
    for (const until = Date.now() + PATIENCE_MS; Date.now() < until; await sleep(200)) {
      const found = await look();
      if (found !== undefined) return found;
    }
    throw new Error(`${what} did not happen within ${PATIENCE_MS / 1000} s`);
  }

  const primary = () =>
    eventually('a primary', async () => {
      for (const machine of MACHINES) if ((await statusOf(machine, '/primary')) === 200) return machine;
      return undefined;
    });

  const urlOf = (machine: number) => `postgres://postgres:${PASSWORD}@${network}.${machine}:5000/postgres`;

  function lose(machine: number): void {
    for (const child of running.get(machine) ?? []) {
      for (const pid of treeOf(child.pid ?? 0).reverse()) sendSignal(pid, 'SIGKILL');
    }
    running.delete(machine);
    // Of another session, which its parent's end does not reach.
    const pid = postmasterOf(join(folderOf(machine), 'postgresql'));
    if (pid !== null) for (const each of treeOf(pid).reverse()) sendSignal(each, 'SIGKILL');
  }

  async function untilReplicated(standbys: number): Promise<void> {
    await eventually(`${standbys} standbys`, async () => {
      const client = new pg.Client(urlOf(await primary()));
      client.on('error', () => {});
      try {
        await client.connect();
        const { rows } = await client.query<{ sync_state: string }>(
          `select sync_state from pg_stat_replication where state = 'streaming'`,
        );
        return rows.length >= standbys && rows.some(({ sync_state }) => sync_state === 'sync')
          ? true
          : undefined;
      } catch {
        return undefined;
      } finally {
        await client.end().catch(() => {});
      }
    });
  }

  for (const machine of MACHINES) start(machine);
  const machines: DatabaseMachines = {
    urlOf,
    primary,
    untilReplicated,
    lose,
    async bringBack(machine) {
      start(machine);
      await eventually(`the return of machine ${machine}`, async () =>
        (await statusOf(machine, '/health')) === 200 ? true : undefined,
      );
    },
    async stop() {
      for (const machine of MACHINES) lose(machine);
      await sleep(200);
      rmSync(root, { recursive: true, force: true, maxRetries: 5 });
    },
  };
  try {
    await untilReplicated(2);
    return machines;
  } catch (error) {
    await machines.stop();
    throw error;
  }
}

/** A process and all below it. */
function treeOf(pid: number): number[] {
  if (pid === 0) return [];
  try {
    const children = readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
      readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
    );
    return [pid, ...children.flatMap(treeOf)];
  } catch {
    return [];
  }
}

function postmasterOf(cluster: string): number | null {
  try {
    return Number(readFileSync(join(cluster, 'postmaster.pid'), 'utf8').split('\n')[0]);
  } catch {
    return null;
  }
}
