import { createHash } from 'node:crypto';
import { chmod, chown, mkdir, mkdtemp, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { connect } from 'node:net';
import { totalmem } from 'node:os';
import { dirname, join } from 'node:path';
import type { Logger } from 'pino';
import { writeDurably } from '../../../lib/durable-file.ts';
import { hasCode } from '../../../lib/error-code.ts';
import { ifThere } from '../../../lib/if-there.ts';
import { runCommand } from '../../../lib/run-command.ts';
import type { Daemons } from '../machine/daemon.ts';
import type { LinuxLayout } from '../machine/layout.ts';
import { SilentDaemonError } from './hang-watch.ts';
import { clientCommand, runStatements } from './mariadb-client.ts';
import { mariadbConfig, pidFileIn } from './mariadb-config.ts';

/** The host's database server. */
export interface DatabaseServer {
  /** Starts it if needed, and creates it the first time. Never touches existing content. Needs root. */
  ensure(): Promise<void>;
  /** Rejects with a SilentDaemonError if it says nothing for 10 s or nothing listens. A refusal, such as of too many connections, is an answer. */
  answers(): Promise<void>;
}

const SERVER = '/usr/sbin/mariadbd';
/** Unix user of the server. */
export const DATABASE_USER = 'mysql';
/** Crash recovery reads the log before the server is ready. */
const READY_WITHIN_MS = 120_000;
const ANSWER_WITHIN_MS = 10_000;
/** No answer of the server: EAGAIN means that it accepts none of the waiting connections. */
const NOBODY_LISTENS = ['ECONNREFUSED', 'ECONNRESET', 'ENOENT', 'EAGAIN'];

export function createDatabaseServer(options: {
  layout: LinuxLayout;
  daemons: Daemons;
  log: Logger;
  /** Memory of the machine, in bytes. */
  memory?: number;
}): DatabaseServer {
  const { layout, daemons, log, memory = totalmem() } = options;
  const tables = tablesOf(layout);
  const temporary = join(layout.mariadb, 'tmp');
  const configFile = join(layout.mariadb, 'my.cnf');
  const versionFile = join(layout.mariadb, 'version');

  async function ensure(): Promise<void> {
    const user = await identityOf(DATABASE_USER);
    await ownedFolder(layout.mariadb, { uid: 0, gid: 0 }, 0o755);
    // Anyone may connect but not list; the user that connects determines the rights.
    await ownedFolder(layout.mariadbRun, user, 0o751);
    await ownedFolder(temporary, user, 0o700);
    const config = await writeConfig();
    await makeTables();
    await daemons.ensure({
      name: 'mariadb',
      description: 'MariaDB of the websites',
      command: [SERVER, `--defaults-file=${configFile}`],
      // The server reads its configuration only at start, so a changed one restarts it.
      environment: { HOMEPORT_CONFIGURATION: digestOf(config) },
      ready: () => greeted(layout.mariadbSocket),
      readyWithinMs: READY_WITHIN_MS,
      stopWithinMs: 60_000,
    });
    await upgradeTables();
  }

  async function writeConfig(): Promise<string> {
    const config = mariadbConfig({
      folder: tables,
      temporary,
      socket: layout.mariadbSocket,
      user: DATABASE_USER,
      memory,
    });
    if ((await ifThere(readFile(configFile, 'utf8'))) !== config) await writeDurably(configFile, config);
    await chmod(configFile, 0o644);
    return config;
  }

  /** Creates the tables in a temporary folder and renames it, so that an interrupted creation is never used. */
  async function makeTables(): Promise<void> {
    if ((await ifThere(stat(tables))) !== null) return;
    const unfinished = `${tables}.new`;
    const folder = dirname(tables);
    for (const name of await readdir(folder)) {
      const path = join(folder, name);
      if (path.startsWith(unfinished)) await rm(path, { recursive: true, force: true });
    }
    // The program of a host that was killed may still be writing, so each attempt has a folder of its own.
    const beside = await mkdtemp(`${unfinished}-`);
    await ownedFolder(beside, await identityOf(DATABASE_USER), 0o700);
    await runCommand('mariadb-install-db', [
      '--no-defaults',
      `--user=${DATABASE_USER}`,
      `--datadir=${beside}`,
      '--auth-root-authentication-method=socket',
      '--skip-test-db',
    ]);
    await rename(beside, tables);
    log.info({ folder: tables }, 'created the tables of the database server');
  }

  /** A new MariaDB release may have to change its own tables. The running release counts: the program may already be newer. */
  async function upgradeTables(): Promise<void> {
    const [[running = ''] = []] = await runStatements(layout.mariadbSocket, 'root', 'SELECT VERSION()');
    const version = /^\d+\.\d+\.\d+/.exec(running)?.[0] ?? running;
    if ((await ifThere(readFile(versionFile, 'utf8'))) === version) return;
    await runCommand(...clientCommand(layout.mariadbSocket, 'root', 'mariadb-upgrade', ['--silent']), {
      timeoutMs: 600_000,
    });
    await writeDurably(versionFile, version);
  }

  return { ensure, answers: async () => void (await greeting(layout.mariadbSocket, ANSWER_WITHIN_MS)) };
}

/** The file with the number of the server's process, which a server that was killed leaves behind. */
export function databasePidFile(layout: LinuxLayout): string {
  return pidFileIn(tablesOf(layout));
}

function tablesOf({ mariadb }: LinuxLayout): string {
  return join(mariadb, 'data');
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

async function ownedFolder(path: string, owner: { uid: number; gid: number }, mode: number): Promise<void> {
  await mkdir(path, { recursive: true });
  await chown(path, owner.uid, owner.gid);
  await chmod(path, mode);
}

async function identityOf(user: string): Promise<{ uid: number; gid: number }> {
  const { stdout } = await runCommand('getent', ['passwd', user]);
  const [, , uid, gid] = stdout.split(':');
  return { uid: Number(uid), gid: Number(gid) };
}

/** The server speaks first (protocol 10): its first packet has number 0 and starts with the protocol version. */
async function greeted(socket: string): Promise<void> {
  const packet = await greeting(socket, 2_000);
  if (packet[4] !== 10)
    throw new Error(`MariaDB refuses connections: ${packet.subarray(7).toString('latin1')}`);
}

function greeting(socket: string, withinMs: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const connection = connect(socket);
    connection.setTimeout(withinMs, () =>
      connection.destroy(new SilentDaemonError('MariaDB does not answer')),
    );
    connection.once('data', (packet) => {
      connection.destroy();
      resolve(packet);
    });
    connection.once('error', (error) =>
      reject(
        hasCode(error, ...NOBODY_LISTENS) ? new SilentDaemonError(error.message, { cause: error }) : error,
      ),
    );
    connection.once('close', () => reject(new SilentDaemonError('MariaDB closed the connection')));
  });
}
