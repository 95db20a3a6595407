import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { sendSignal } from '../../src/hosting/linux/daemons/leftovers.ts';
import { freePort } from './free-port.ts';

/** A PostgreSQL server for tests, on 127.0.0.1, deleted afterwards. */
export interface PostgresServer {
  url: string;
  /** Ends the server at once, as a crash would. Committed data stays. */
  crash(): Promise<void>;
  /** Starts it again, on the same port. */
  restart(): Promise<void>;
  /** Stops its processes, with open connections, until `thaw`. */
  freeze(): void;
  thaw(): void;
  stop(): Promise<void>;
}

/** The folder with `initdb` and `postgres` in it, or undefined if this machine has no PostgreSQL server. */
export function findPostgres(): string | undefined {
  const versions = '/usr/lib/postgresql';
  const folders = existsSync(versions)
    ? readdirSync(versions)
        .sort((a, b) => Number(b) - Number(a))
        .map((version) => join(versions, version, 'bin'))
    : [];
  const onPath = (process.env.PATH ?? '').split(':');
  return [...folders, ...onPath].find(
    (folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres')),
  );
}

export async function startPostgres(binaries: string): Promise<PostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), 'homeport-postgres-'));
  const identity = unprivilegedIdentity();
  if (identity) chownSync(folder, identity.uid, identity.gid);
  const cluster = join(folder, 'cluster');
  const made = spawnSync(
    join(binaries, 'initdb'),
    ['-D', cluster, '-U', 'homeport', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'],
    { ...identity, encoding: 'utf8' },
  );
  if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr}`);
  const port = await freePort();
  const url = `postgres://homeport@127.0.0.1:${port}/postgres`;
  let server: ChildProcess | undefined;

  async function start(): Promise<void> {
    server = spawn(
      join(binaries, 'postgres'),
      // biome-ignore format: one option a pair
      ['-D', cluster, '-p', String(port), '-h', '127.0.0.1', '-k', folder,
       '-c', 'fsync=off', '-c', 'max_connections=300', '-c', 'shared_buffers=64MB',
       // Creating and dropping many small databases costs half without these.
       '-c', 'full_page_writes=off', '-c', 'autovacuum=off', '-c', 'wal_level=minimal', '-c', 'max_wal_senders=0'],
      { ...identity, stdio: 'ignore' },
    );
    await untilAnswering(url, server);
  }

  async function end(signal: 'SIGINT' | 'SIGQUIT'): Promise<void> {
    if (!server || server.exitCode !== null) return;
    const ended = new Promise((resolve) => server?.once('exit', resolve));
    server.kill(signal);
    await ended;
  }

  /** The server and its child processes, which have separate process groups. */
  function signalAll(signal: 'SIGSTOP' | 'SIGCONT'): void {
    const pid = server?.pid;
    if (pid === undefined) return;
    sendSignal(pid, signal);
    // Read after the server itself is stopped, so no new ones start. Some may just be ending.
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
    for (const child of children) sendSignal(Number(child), signal);
  }

  await start();
  return {
    url,
    crash: () => end('SIGQUIT'),
    restart: start,
    freeze: () => signalAll('SIGSTOP'),
    thaw: () => signalAll('SIGCONT'),
    async stop() {
      await end('SIGINT');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** PostgreSQL refuses to run as root, which tests in containers often use. */
export function unprivilegedIdentity(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((entry) => entry.startsWith('postgres:') || entry.startsWith('nobody:'));
  const [, , uid, gid] = (line ?? '').split(':');
  return { uid: Number(uid), gid: Number(gid) };
}

async function untilAnswering(url: string, server: ChildProcess): Promise<void> {
  for (let tried = 0; tried < 200; tried++) {
    if (server.exitCode !== null) throw new Error(`PostgreSQL ended with code ${server.exitCode}`);
    const client = new pg.Client(url);
    try {
      await client.connect();
      await client.end();
      return;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
  throw new Error('PostgreSQL did not answer within 10 s');
}
