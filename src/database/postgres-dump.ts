import { spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import type { Logger } from 'pino';
import { hasCode } from '../lib/error-code.ts';
import { OperatorError } from '../lib/operator-error.ts';
import type { Queries } from './database.ts';
import { openPostgres } from './postgres.ts';

/** Debian's folder of PostgreSQL's programs, with a subfolder for each version. */
const VERSIONS = '/usr/lib/postgresql';
/** URL parameters that libpq knows too. It refuses those that only node-postgres knows. */
const LIBPQ_PARAMETERS = new Set(['host', 'port', 'sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'options']);
/** Maximum length of program output in an error. */
const COMPLAINT_CHARACTERS = 2_000;

export interface PostgresTools {
  log: Logger;
  signal?: AbortSignal | undefined;
}

/**
 * Dumps the database into the new file `to` (mode 0600, pg_dump's custom format), as a consistent snapshot, while others write.
 * `look` reads the same snapshot. Throws OperatorError.
 */
export async function dumpPostgres<Seen>(
  url: string,
  to: string,
  look: (queries: Queries) => Promise<Seen>,
  { log, signal }: PostgresTools,
): Promise<Seen> {
  const database = openPostgres(url, log);
  try {
    return await database.reader
      .transaction()
      .setIsolationLevel('repeatable read')
      .setAccessMode('read only')
      .execute(async (transaction) => {
        // The transaction is idle while pg_dump runs.
        await sql`set local idle_in_transaction_session_timeout = 0`.execute(transaction);
        const exported = await sql<{ snapshot: string }>`select pg_export_snapshot() as snapshot`.execute(
          transaction,
        );
        const snapshot = exported.rows[0]?.snapshot ?? '';
        const seen = await look(transaction);
        const output = await open(to, 'wx', 0o600);
        try {
          const words = ['--format=custom', '--no-password', `--snapshot=${snapshot}`];
          await runTool('pg_dump', words, url, { signal, output: output.fd });
        } finally {
          await output.close();
        }
        return seen;
      });
  } finally {
    await database.close();
  }
}

/** Restores a dump atomically into a database without tables. The user in the URL owns all objects. Throws OperatorError. */
export async function restorePostgres(
  url: string,
  dump: string,
  { log, signal }: PostgresTools,
): Promise<void> {
  await requireEmpty(url, log);
  const words = ['--no-owner', '--no-privileges', '--single-transaction', '--exit-on-error', '--no-password'];
  await runTool('pg_restore', [...words, '--dbname', addressWithoutPassword(url), dump], url, { signal });
}

/** Throws OperatorError unless the database exists and has no tables. */
export async function requireEmpty(url: string, log: Logger): Promise<void> {
  const database = openPostgres(url, log);
  try {
    const { rows } = await sql<{ name: string }>`
      select tablename as name from pg_tables
      where schemaname not in ('pg_catalog', 'information_schema') limit 1`.execute(database.reader);
    const [first] = rows;
    if (first === undefined) return;
  } finally {
    await database.close();
  }
  throw new OperatorError(
    'The database in HOMEPORT_DATABASE_URL is not empty. Create an empty database with "createdb" and set its URL.',
  );
}

/** Null if pg_restore can read a dump's table of contents, else the reason. Throws OperatorError if pg_restore is missing. */
export async function faultOfDump(dump: string, signal?: AbortSignal): Promise<string | null> {
  try {
    await runTool('pg_restore', ['--list', dump], null, { signal });
    return null;
  } catch (error) {
    if (error instanceof ToolFailure) return error.complaint;
    throw error;
  }
}

/** One of PostgreSQL's programs failed. */
class ToolFailure extends OperatorError {
  readonly complaint: string;
  constructor(program: string, complaint: string) {
    super(`${program} failed: ${complaint}`);
    this.complaint = complaint;
  }
}

interface RunOptions {
  signal: AbortSignal | undefined;
  /** File descriptor for the program's output; ignored if omitted. */
  output?: number;
}

/** The password is passed in the environment, because every user of the machine can read arguments. */
async function runTool(
  program: string,
  words: string[],
  url: string | null,
  options: RunOptions,
): Promise<void> {
  const connection =
    url === null || program === 'pg_restore' ? [] : [`--dbname=${addressWithoutPassword(url)}`];
  const password = url === null ? '' : decodeURIComponent(new URL(url).password);
  const child = spawn(programFile(program), [...connection, ...words], {
    env: {
      PATH: process.env.PATH,
      LC_ALL: 'C.UTF-8',
      ...(process.env.HOME === undefined ? {} : { HOME: process.env.HOME }),
      ...(password === '' ? {} : { PGPASSWORD: password }),
    },
    // A Ctrl-C on the terminal would end it before the running backup finishes.
    detached: true,
    stdio: ['ignore', options.output ?? 'ignore', 'pipe'],
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  });
  let complaint = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    if (complaint.length < COMPLAINT_CHARACTERS) complaint += text;
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject).once('close', resolve);
  }).catch((error: unknown) => {
    if (!hasCode(error, 'ENOENT')) throw error;
    throw new OperatorError(
      `There is no ${program} on this machine. Install PostgreSQL's client programs (Debian: postgresql-client).`,
    );
  });
  if (code === 0) return;
  const line = complaint
    .trim()
    .replace(/\s*\n\s*/g, ' ')
    .slice(0, COMPLAINT_CHARACTERS);
  throw new ToolFailure(program, line === '' ? `it ended with ${code ?? 'a signal'}` : line);
}

/** The newest installed version, because a dump needs a program at least as new as the server. */
function programFile(program: string): string {
  const versions = existsSync(VERSIONS) ? readdirSync(VERSIONS) : [];
  const newestFirst = versions.sort((a, b) => Number(b) - Number(a));
  const files = newestFirst.map((version) => join(VERSIONS, version, 'bin', program));
  return files.find((file) => existsSync(file)) ?? program;
}

function addressWithoutPassword(url: string): string {
  const address = new URL(url);
  address.password = '';
  const parameters = address.searchParams;
  // node-postgres's parameter for TLS.
  if (parameters.get('ssl') === 'true' && !parameters.has('sslmode')) parameters.set('sslmode', 'require');
  for (const name of [...parameters.keys()]) if (!LIBPQ_PARAMETERS.has(name)) parameters.delete(name);
  return address.href;
}
