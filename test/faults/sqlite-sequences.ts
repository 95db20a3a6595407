import { execFile } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { ownCertificateFile } from '../../src/api/api-certificate.ts';
import { SQLITE_FILE } from '../../src/database/open.ts';
import { type Environment, environmentFor, type Running, runJson, serve } from '../cli/run-homeport.ts';
import { type Client, createAgent, createClient, text } from '../client.ts';

/** Sites that a sequence creates after the backup. */
export const WRITES = 40;

/** A Homeport on SQLite in a separate folder, used by other SQLite clients too. */
export interface SqliteHomeport {
  environment: Environment;
  file: string;
  /** Starts the server with the database of an earlier start. */
  startAgain(): Promise<Running>;
  /** Ends it with a signal and waits until it is gone. */
  end(server: Running, signal: 'SIGTERM' | 'SIGKILL'): Promise<void>;
  /** Ends every server that still runs, whatever failed before. */
  close(): Promise<void>;
  /** Creates sites through the API. Returns the ids that were answered with 201. */
  write(count: number): Promise<string[]>;
}

export async function sqliteHomeport(dataDir: string): Promise<SqliteHomeport> {
  const credential = { username: randomUUID(), password: randomBytes(18).toString('base64url') };
  const place = { settings: { databaseUrl: null, dataDir }, remove: async () => {} };
  const environment = await environmentFor(place, {
    HOMEPORT_INITIAL_CREDENTIAL: `${credential.username}:${credential.password}`,
    HOMEPORT_LOG_LEVEL: 'warn',
  });

  const servers: Running[] = [];

  async function withClient<Result>(work: (client: Client) => Promise<Result>): Promise<Result> {
    const agent = createAgent(readFileSync(ownCertificateFile(dataDir), 'utf8'));
    const origin = environment.HOMEPORT_PUBLIC_URL ?? '';
    try {
      return await work(createClient({ origin, agent, conformance: () => undefined }, credential));
    } finally {
      await agent.destroy();
    }
  }

  async function start(): Promise<Running> {
    const server = await serve(environment);
    servers.push(server);
    return server;
  }

  async function end(server: Running, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    server.process.kill(signal);
    await server.ended;
  }

  const file = join(dataDir, SQLITE_FILE);
  return {
    environment,
    file,
    async startAgain() {
      if (!existsSync(file)) await end(await start(), 'SIGTERM');
      return start();
    },
    async close() {
      for (const { process, ended } of servers) {
        process.kill('SIGKILL');
        await ended;
      }
    },
    end,
    write: (count) =>
      withClient(async (client) => {
        const account_id = text((await client.get('/accounts')).body, 'results', 0, 'id');
        const ids: string[] = [];
        for (let index = 0; index < count; index++) {
          const { status, body } = await client.post('/sites', { name: `Site ${index}`, account_id });
          if (status !== 201) throw new Error(`POST /sites answered ${status}: ${JSON.stringify(body)}`);
          ids.push(text(body, 'id'));
        }
        return ids;
      }),
  };
}

/** Runs Debian's `sqlite3` on a database. Returns what it prints. */
export async function sqlite3(file: string, ...commands: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)('sqlite3', [file, ...commands]);
  return stdout.trim();
}

/** The locks that a process holds on a file, as /proc/locks lists them, without the number that counts those of all processes. */
export function locksOn(file: string, pid: number): string[] {
  const { ino } = statSync(file);
  return readFileSync('/proc/locks', 'utf8')
    .split('\n')
    .filter((line) => {
      const [, , , , holder, place = ''] = line.trim().split(/\s+/);
      return holder === String(pid) && place.endsWith(`:${ino}`);
    })
    .map((line) => line.replace(/^\d+: /, ''));
}

/** The result of a sequence: the number of lost acknowledged writes, and SQLite's verdict on the file. */
export interface Outcome {
  lost: number;
  integrity: string;
}

async function outcomeOf({ file }: SqliteHomeport, ids: string[]): Promise<Outcome> {
  const present = new Set(
    (await sqlite3(file, 'select id from sites union select id from accounts')).split('\n'),
  );
  return {
    lost: ids.filter((id) => !present.has(id)).length,
    integrity: await sqlite3(file, 'pragma integrity_check'),
  };
}

/** Sites that it creates before: the server then has pages in memory that the file may no longer agree with. */
const WRITES_BEFORE = 5;

/** Sequence A: a second start, writes, `.backup` by sqlite3, writes through the API, kill -9. */
export async function backupThenKill(homeport: SqliteHomeport): Promise<Outcome> {
  try {
    const server = await homeport.startAgain();
    const before = await homeport.write(WRITES_BEFORE);
    await sqlite3(homeport.file, `.backup '${join(dirname(homeport.file), 'copy.sqlite')}'`);
    const ids = await homeport.write(WRITES);
    await homeport.end(server, 'SIGKILL');
    return outcomeOf(homeport, [...before, ...ids]);
  } finally {
    await homeport.close();
  }
}

/** Sequence B: a second start, writes, `.backup` by sqlite3, one command, writes through the API, SIGTERM. */
export async function backupThenCommand(homeport: SqliteHomeport): Promise<Outcome> {
  try {
    const server = await homeport.startAgain();
    const before = await homeport.write(WRITES_BEFORE);
    await sqlite3(homeport.file, `.backup '${join(dirname(homeport.file), 'copy.sqlite')}'`);
    const account = await runJson(homeport.environment, 'account', 'create', '--name', 'Beside');
    const ids = await homeport.write(WRITES);
    await homeport.end(server, 'SIGTERM');
    return outcomeOf(homeport, [text(account, 'id'), ...before, ...ids]);
  } finally {
    await homeport.close();
  }
}
