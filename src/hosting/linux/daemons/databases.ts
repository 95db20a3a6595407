import { PermanentHostError } from '../../contract/errors.ts';
import type { LinuxLayout } from '../machine/layout.ts';
import { dumpInto, loadFrom } from './database-dump.ts';
import { createDatabaseWrites, type DatabaseWrites } from './database-writes.ts';
import { dropLoadingUser, type ForeignLoad, loadForeign, loadingUserOf } from './foreign-dump.ts';
import { type OwnedDatabase, runStatements } from './mariadb-client.ts';
import { DATABASE_PREFIX, databaseName, databaseUser, grantedDatabase, textLiteral } from './sql.ts';
import { forgetReplacement, replaceTables } from './table-replacement.ts';

/**
 * The databases of this host. Names are `hp_` and 1 to 50 of `a-z 0-9 _`; others cause a {@link PermanentHostError}. The user
 * of a database is its install's Unix user: the server asks the kernel who connects (`unix_socket`), so there is no password.
 * Statements on a database's content run as that user. As root, a customer's views, triggers and functions would run as root.
 */
export interface Databases {
  /** Creates the database, and its user with rights on it alone. The Unix user must exist before the database is used. */
  create(database: string, unixUser: string): Promise<void>;
  /** Drops the database, and its user unless the user has another database. Succeeds if it is missing. */
  drop(database: string, unixUser: string): Promise<void>;
  list(): Promise<string[]>;
  /** Bytes of the files of each database, which stay as large when rows are deleted. */
  fileBytes(): Promise<Map<string, number>>;
  /** Bytes of the rows and indexes of a database, by the statistics of the storage engine. */
  dataBytes(database: string): Promise<number>;
  /** Databases whose users may only read and delete. */
  readOnly(): Promise<Set<string>>;
  /** Lets the user of a database only read and delete, which ends its connections, or do everything from its next connection on. */
  setReadOnly(database: string, isReadOnly: boolean): Promise<void>;
  /** What the users of the databases have written. */
  writes: DatabaseWrites;
  /** Names of its tables and views; null without the database. */
  tables(database: string): Promise<Set<string> | null>;
  /** Whether the database exists, its user can use it, and it has tables. */
  stateOf(database: string, unixUser: string): Promise<DatabaseState>;
  /**
   * Writes a consistent dump of the database into `file` (root, 0600), whole or not at all. Equal databases give equal files.
   * The dump can be loaded for any user. Returns the names of broken views, which it leaves out.
   */
  dump(database: string, file: string, signal?: AbortSignal): Promise<string[]>;
  /**
   * Empties the database and fills it from a dump. A failure leaves it half filled: if that matters, load into another
   * database and use {@link replaceTables}.
   */
  load(database: string, file: string, signal?: AbortSignal): Promise<void>;
  /**
   * As {@link load}, of a dump that nobody vouches for: its statements run as a user with rights on this database alone, even if
   * the owner has other databases. In the end, after {@link ForeignLoad.adapt}, the owner is the definer of its views and programs.
   */
  loadForeign(database: string, file: string, options?: ForeignLoad): Promise<void>;
  /** Runs statements and returns the rows of all results; NULL is `NULL`. Pass values as {@link textLiteral}, never as they are. */
  query(database: string, sql: string): Promise<string[][]>;
  /**
   * Replaces the content of `to` by that of `from`, all tables in one atomic step. `from` is empty afterwards. A call after an
   * interruption completes what the earlier one began; with no tables in `from`, it does nothing. With `tables`, only these and
   * their triggers are replaced. No foreign key may connect them with others.
   */
  replaceTables(from: string, to: string, tables?: readonly string[] | null): Promise<void>;
}

/** `empty`: no tables. `read-only`: as {@link Databases.setReadOnly} made it. `inaccessible`: its user is missing or lacks rights. */
export type DatabaseState = 'whole' | 'missing' | 'empty' | 'read-only' | 'inaccessible';

/** Rights that make a database larger. */
const GROWING = 'INSERT, UPDATE, CREATE, ALTER, INDEX';
/** Condition on mysql.db for a database without these rights. */
const IS_READ_ONLY = "Insert_priv = 'N' AND Delete_priv = 'Y'";

/**
 * Connections per install: one per PHP worker at most, and eight for WP-Cron and people's sessions. The limits of a session
 * are in mariadb-config.ts.
 */
const CONNECTIONS_PER_USER = 24;
/** Time limit for a statement of a website: the same as PHP's limit for a request. */
const STATEMENT_SECONDS = 300;

export function createDatabases({ layout }: { layout: LinuxLayout }): Databases {
  const socket = layout.mariadbSocket;
  const asRoot = (statements: string) => runStatements(socket, 'root', statements);
  /** Owners of databases, cached. */
  const owners = new Map<string, string>();

  async function ownerOf(database: string): Promise<string> {
    const known = owners.get(database);
    if (known !== undefined) return known;
    const granted = textLiteral(grantedDatabase(database).slice(1, -1));
    const rows = await asRoot(
      `SELECT User FROM mysql.db WHERE Db = ${granted} AND Host = 'localhost' AND User <> ${textLiteral(loadingUserOf(database))}`,
    );
    const owner = rows[0]?.[0];
    if (owner === undefined) throw new PermanentHostError(`this host has no database ${database}`);
    // The name becomes part of a command, so check it.
    databaseUser(owner);
    owners.set(database, owner);
    return owner;
  }

  const owned = async (database: string): Promise<OwnedDatabase> => ({
    database,
    owner: { unixUser: await ownerOf(database) },
  });

  async function create(database: string, unixUser: string): Promise<void> {
    const user = databaseUser(unixUser);
    await asRoot(
      [
        emptyDatabase(database),
        `CREATE USER IF NOT EXISTS ${user} IDENTIFIED VIA unix_socket`,
        `ALTER USER ${user} IDENTIFIED VIA unix_socket WITH MAX_USER_CONNECTIONS ${CONNECTIONS_PER_USER} MAX_STATEMENT_TIME ${STATEMENT_SECONDS}`,
        grantAll(database, user),
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
        forgetReplacement(database),
        dropLoadingUser(database),
        `DROP DATABASE IF EXISTS ${databaseName(database)}`,
        `DELETE FROM mysql.db WHERE Db = ${textLiteral(grantedDatabase(database).slice(1, -1))}`,
        'FLUSH PRIVILEGES',
        `SET @last = IF(EXISTS (SELECT 1 FROM mysql.db WHERE ${ofUser}), 'DO 0', ${textLiteral(`DROP USER IF EXISTS ${user}`)})`,
        'EXECUTE IMMEDIATE @last',
      ].join(';\n'),
    );
  }

  async function stateOf(database: string, unixUser: string): Promise<DatabaseState> {
    const user = databaseUser(unixUser);
    const granted = grantedDatabase(database);
    const name = textLiteral(database);
    const known = `User = ${textLiteral(unixUser)} AND Host = 'localhost' AND plugin = 'unix_socket'`;
    const [[databases] = [], [tables] = [], [restricted] = [], ...grants] = await asRoot(
      [
        `SELECT COUNT(*) FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = ${name}`,
        `SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = ${name}`,
        `SELECT COUNT(*) FROM mysql.db WHERE Db = ${textLiteral(granted.slice(1, -1))} AND User = ${textLiteral(unixUser)} AND ${IS_READ_ONLY}`,
        `SET @grants = IF(EXISTS (SELECT 1 FROM mysql.user WHERE ${known}), ${textLiteral(`SHOW GRANTS FOR ${user}`)}, 'DO 0')`,
        'EXECUTE IMMEDIATE @grants',
      ].join(';\n'),
    );
    if (databases !== '1') return 'missing';
    const isWhole = grants.some(([grant]) => grant === grantAll(database, user));
    if (!isWhole) return restricted === '1' ? 'read-only' : 'inaccessible';
    return tables === '0' ? 'empty' : 'whole';
  }

  async function readOnly(): Promise<Set<string>> {
    const rows = await asRoot(`SELECT Db FROM mysql.db WHERE Host = 'localhost' AND ${IS_READ_ONLY}`);
    return new Set(rows.flat().map((name) => name.replaceAll('\\_', '_')));
  }

  async function setReadOnly(database: string, isReadOnly: boolean): Promise<void> {
    const user = databaseUser(await ownerOf(database));
    await asRoot(
      isReadOnly
        ? `REVOKE ${GROWING} ON ${grantedDatabase(database)}.* FROM ${user};\nKILL CONNECTION USER ${user}`
        : grantAll(database, user),
    );
  }

  async function empty(database: string): Promise<void> {
    const drop = [forgetReplacement(database), `DROP DATABASE IF EXISTS ${databaseName(database)}`];
    await asRoot([...drop, emptyDatabase(database)].join(';\n'));
  }

  return {
    create,
    drop,
    async list() {
      const rows = await asRoot('SHOW DATABASES');
      return rows.flat().filter((name) => name.startsWith(DATABASE_PREFIX));
    },
    async fileBytes() {
      const rows = await asRoot(
        "SELECT SUBSTRING_INDEX(NAME, '/', 1) AS place, SUM(FILE_SIZE) FROM information_schema.INNODB_SYS_TABLESPACES GROUP BY place",
      );
      return new Map(rows.map(([database = '', bytes]) => [database, Number(bytes)]));
    },
    async dataBytes(database) {
      const [[bytes] = []] = await asRoot(
        `SELECT COALESCE(SUM(DATA_LENGTH + INDEX_LENGTH), 0) FROM information_schema.TABLES WHERE TABLE_SCHEMA = ${textLiteral(database)}`,
      );
      return Number(bytes);
    },
    readOnly,
    setReadOnly,
    writes: createDatabaseWrites(asRoot),
    async tables(database) {
      const name = textLiteral(database);
      const [[count] = [], ...rows] = await asRoot(
        [
          `SELECT COUNT(*) FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = ${name}`,
          `SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = ${name}`,
        ].join(';\n'),
      );
      return count === '1' ? new Set(rows.flat()) : null;
    },
    stateOf,
    dump: async (database, file, signal) => dumpInto(file, socket, await owned(database), signal),
    async load(database, file, signal) {
      const target = await owned(database);
      await empty(database);
      await loadFrom(file, socket, target, signal);
    },
    async loadForeign(database, file, options = {}) {
      const unixUser = await ownerOf(database);
      await empty(database);
      await loadForeign(socket, { database, unixUser }, file, options);
    },
    async query(database, sql) {
      const { owner } = await owned(database);
      return runStatements(socket, owner, sql, { database });
    },
    async replaceTables(from, to, tables = null) {
      // The content that comes may be smaller than that of a full database.
      if ((await readOnly()).has(to)) await setReadOnly(to, false);
      await replaceTables(socket, await owned(from), await owned(to), tables);
    },
  };
}

function grantAll(database: string, user: string): string {
  return `GRANT ALL PRIVILEGES ON ${grantedDatabase(database)}.* TO ${user}`;
}

function emptyDatabase(database: string): string {
  return `CREATE DATABASE IF NOT EXISTS ${databaseName(database)} CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_520_ci`;
}
