import { randomBytes } from 'node:crypto';
import { loadFrom } from './database-dump.ts';
import { dropPrograms, programsOf } from './database-programs.ts';
import { type DatabaseLogin, runStatements } from './mariadb-client.ts';
import { databaseName, grantedDatabase } from './sql.ts';

/** The user as whom foreign statements fill a database. No Unix user has such a name, so nobody else connects as it. */
export const loadingUserOf = (database: string): string => databaseName(database).slice(1, -1);

/** The user as whom a foreign dump was loaded, with rights on its database alone. */
export interface LoadingUser {
  login: DatabaseLogin;
  /** Runs statements as that user, and returns the rows of all results. */
  query(database: string, sql: string): Promise<string[][]>;
}

export interface ForeignLoad {
  signal?: AbortSignal | undefined;
  /** Changes the loaded database. Views and programs of the dump that run meanwhile have the rights of the loading user only. */
  adapt?: ((as: LoadingUser) => Promise<void>) | undefined;
}

/** Far longer than adding the indexes of a table of some gigabytes. */
const STATEMENT_SECONDS = 30 * 60;

/** Statements for root. A statement goes on after its client is killed, so its session is ended, too. */
export function dropLoadingUser(database: string): string {
  return `DROP USER IF EXISTS ${account(database)};\nKILL CONNECTION USER ${account(database)}`;
}

/**
 * Fills an empty database from a dump that nobody vouches for. The owner of the database may have others, so the statements run as
 * a user of their own, with a password that lasts as long. Its views and programs are made again by the owner.
 */
export async function loadForeign(
  socket: string,
  { database, unixUser }: { database: string; unixUser: string },
  file: string,
  { signal, adapt }: ForeignLoad,
): Promise<void> {
  const asRoot = (...statements: string[]) => runStatements(socket, 'root', statements.join(';\n'));
  const password = randomBytes(24).toString('base64url');
  const user = account(database);
  await asRoot(
    dropLoadingUser(database),
    `CREATE USER ${user} IDENTIFIED BY '${password}' WITH MAX_STATEMENT_TIME ${STATEMENT_SECONDS}`,
    `GRANT ALL PRIVILEGES ON ${grantedDatabase(database)}.* TO ${user}`,
  );
  try {
    const login = { user: loadingUserOf(database), password };
    const stranger = { database, owner: { unixUser, login } };
    await loadFrom(file, socket, stranger, signal);
    await adapt?.({
      login,
      query: (asked, sql) => runStatements(socket, stranger.owner, sql, { database: asked, signal }),
    });
    const programs = await programsOf(socket, stranger);
    const drops = await dropPrograms(socket, database);
    if (drops.length > 0) {
      await asRoot(...drops);
      await runStatements(socket, { unixUser }, programs, { database });
    }
  } finally {
    await asRoot(dropLoadingUser(database));
  }
}

const account = (database: string) => `${databaseName(database)}@\`localhost\``;
