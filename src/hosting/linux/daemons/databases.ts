import { PermanentHostError } from '../../contract/host.ts';
import type { LinuxLayout } from '../machine/layout.ts';
import { dumpInto, loadFrom } from './database-dump.ts';
import { type OwnedDatabase, runStatements } from './mariadb-client.ts';
import { DATABASE_PREFIX, databaseName, databaseUser, grantedDatabase, textLiteral } from './sql.ts';
import { exchangeTables, forgetExchange } from './table-exchange.ts';

/**
 * The databases of this host: names are `hp_` and 1 to 50 of `a-z 0-9 _`. The user of a database is the Unix user of its
 * install: the server asks the kernel who connects (`unix_socket`), so there is no password. Everything that touches what is in a
 * database runs as its user, for what a customer has put in there (views, triggers, functions) would otherwise run as root.
 * Invalid names are refused with a {@link PermanentHostError}.
 */
export interface Databases {
  /** Makes the database, and its user with rights on it alone. The Unix user must exist before the database is used. */
  create(database: string, unixUser: string): Promise<void>;
  /** Takes the database away, and its user unless that has another one. Dropping what is not there is success. */
  drop(database: string, unixUser: string): Promise<void>;
  list(): Promise<string[]>;
  /** Whether the user of a database gets at it, and finds something. */
  look(database: string, unixUser: string): Promise<DatabaseState>;
  /**
   * Writes one consistent state of everything in the database into `file` (root's, 0600), whole or not at all. Equal databases
   * give equal files. It can be loaded for any other user. Gives the names of views that were left out, because what they
   * show is gone.
   */
  dump(database: string, file: string, signal?: AbortSignal): Promise<string[]>;
  /**
   * Empties the database and fills it from a dump. What fails leaves it half filled: load into another one and
   * {@link exchangeTables} where that matters.
   */
  load(database: string, file: string, signal?: AbortSignal): Promise<void>;
  /**
   * Runs statements and gives the rows of all answers; NULL is `NULL`. Values stand in them as {@link textLiteral}, never as they are.
   */
  query(database: string, sql: string): Promise<string[][]>;
  /**
   * Puts everything that is in `from` in the place of everything that is in `to`, with all tables in one atomic step. `from` is
   * empty afterwards. Called again after it was broken off at any moment, it ends what it had begun; where `from` has no tables,
   * nothing is done.
   */
  exchangeTables(from: string, to: string): Promise<void>;
}

/**
 * What stands between a website and its database. `missing`: there is none. `empty`: it has no tables. `shut`: its user is not
 * there, or has not all rights on it.
 */
export type DatabaseState = 'whole' | 'missing' | 'empty' | 'shut';

/**
 * So many connections one install may hold: those of the most workers that its PHP may have, and eight for its schedule and for
 * people's sessions. Each may take what mariadb-config.ts lets a session have.
 */
const CONNECTIONS_PER_USER = 24;
/** How long a statement of a website may take, in seconds: as long as PHP lets a request take. */
const STATEMENT_SECONDS = 300;

export function createDatabases({ layout }: { layout: LinuxLayout }): Databases {
  const socket = layout.mariadbSocket;
  const asRoot = (statements: string) => runStatements(socket, 'root', statements);
  /** Whose a database is; asked of the server once. */
  const owners = new Map<string, string>();

  async function owned(database: string): Promise<OwnedDatabase> {
    const known = owners.get(database);
    if (known !== undefined) return { database, owner: { unixUser: known } };
    const granted = textLiteral(grantedDatabase(database).slice(1, -1));
    const rows = await asRoot(`SELECT User FROM mysql.db WHERE Db = ${granted} AND Host = 'localhost'`);
    const owner = rows[0]?.[0];
    if (owner === undefined) throw new PermanentHostError(`there is no database ${database} on this host`);
    // It stands in a command now, wherever it came from.
    databaseUser(owner);
    owners.set(database, owner);
    return { database, owner: { unixUser: owner } };
  }

  async function create(database: string, unixUser: string): Promise<void> {
    const user = databaseUser(unixUser);
    await asRoot(
      [
        emptyDatabase(database),
        `CREATE USER IF NOT EXISTS ${user} IDENTIFIED VIA unix_socket`,
        `ALTER USER ${user} IDENTIFIED VIA unix_socket WITH MAX_USER_CONNECTIONS ${CONNECTIONS_PER_USER} MAX_STATEMENT_TIME ${STATEMENT_SECONDS}`,
        `GRANT ALL PRIVILEGES ON ${grantedDatabase(database)}.* TO ${user}`,
      ].join(';\n'),
    );
    owners.set(database, unixUser);
  }

  async function drop(database: string, unixUser: string): Promise<void> {
    const user = databaseUser(unixUser);
    owners.delete(database);
    const ofUser = `User = ${textLiteral(unixUser)} AND Host = 'localhost'`;
    await asRoot(
      [
        forgetExchange(database),
        `DROP DATABASE IF EXISTS ${databaseName(database)}`,
        `DELETE FROM mysql.db WHERE Db = ${textLiteral(grantedDatabase(database).slice(1, -1))}`,
        'FLUSH PRIVILEGES',
        `SET @last = IF(EXISTS (SELECT 1 FROM mysql.db WHERE ${ofUser}), 'DO 0', ${textLiteral(`DROP USER IF EXISTS ${user}`)})`,
        'EXECUTE IMMEDIATE @last',
      ].join(';\n'),
    );
  }

  async function look(database: string, unixUser: string): Promise<DatabaseState> {
    const user = databaseUser(unixUser);
    const granted = grantedDatabase(database);
    const name = textLiteral(database);
    const known = `User = ${textLiteral(unixUser)} AND Host = 'localhost' AND plugin = 'unix_socket'`;
    const [[databases] = [], [tables] = [], ...grants] = await asRoot(
      [
        `SELECT COUNT(*) FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = ${name}`,
        `SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = ${name}`,
        `SET @grants = IF(EXISTS (SELECT 1 FROM mysql.user WHERE ${known}), ${textLiteral(`SHOW GRANTS FOR ${user}`)}, 'DO 0')`,
        'EXECUTE IMMEDIATE @grants',
      ].join(';\n'),
    );
    if (databases !== '1') return 'missing';
    const all = `GRANT ALL PRIVILEGES ON ${granted}.* TO ${user}`;
    if (!grants.some(([grant]) => grant === all)) return 'shut';
    return tables === '0' ? 'empty' : 'whole';
  }

  async function load(database: string, file: string, signal?: AbortSignal): Promise<void> {
    const target = await owned(database);
    const empty = [forgetExchange(database), `DROP DATABASE IF EXISTS ${databaseName(database)}`];
    await asRoot([...empty, emptyDatabase(database)].join(';\n'));
    await loadFrom(file, socket, target, signal);
  }

  return {
    create,
    drop,
    async list() {
      const rows = await asRoot('SHOW DATABASES');
      return rows.flat().filter((name) => name.startsWith(DATABASE_PREFIX));
    },
    look,
    dump: async (database, file, signal) => dumpInto(file, socket, await owned(database), signal),
    load,
    async query(database, sql) {
      const { owner } = await owned(database);
      return runStatements(socket, owner, sql, { database });
    },
    exchangeTables: async (from, to) => exchangeTables(socket, await owned(from), await owned(to)),
  };
}

function emptyDatabase(database: string): string {
  return `CREATE DATABASE IF NOT EXISTS ${databaseName(database)} CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_520_ci`;
}
