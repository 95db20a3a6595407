import { closeSync, openSync } from 'node:fs';
import Sqlite from 'better-sqlite3';
import {
  type Compilable,
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  DummyDriver,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  sql,
} from 'kysely';
import type { Logger } from 'pino';
import { hasCode } from '../lib/error-code.ts';
import { type AnswerRows, checkedRows } from './answer-rows.ts';
import { createChangeFeed } from './change-feed.ts';
import {
  type Database,
  type ParameterOf,
  type PreparedQuery,
  parameterFiller,
  placeholder,
  type Queries,
} from './database.ts';
import { queriesOn, queriesUntilEnd } from './direct-queries.ts';
import { type BusyTimes, createGroupCommit } from './group-commit.ts';
import { createKeptAnswers } from './kept-answers.ts';
import { type QueryTrace, tracedConnection } from './query-trace.ts';
import { sqliteChanges } from './sqlite-changes.ts';
import { SqliteCompiler } from './sqlite-compiler.ts';
import { createSnapshots } from './sqlite-snapshots.ts';
import { type Disk, openWriteAheadLog, type WriteAheadLog } from './sqlite-wal.ts';

/** Waiting inside SQLite blocks the event loop. That is fine at the start; later, only short waits are allowed, such as a recovery. */
const OPENING_TIMEOUT_MS = 10_000;
const READING_TIMEOUT_MS = 100;
/** Prepared statements kept per connection. The application has fewer, so evictions do not happen in practice. */
const STATEMENT_CACHE = 500;

/** Opens or creates the database, with a write-ahead log that is synced before anyone learns of a write: see {@link openWriteAheadLog}. */
export function openSqlite(
  file: string,
  log: Logger,
  { disk, busyTimes, trace }: { disk?: Disk; busyTimes?: BusyTimes; trace?: QueryTrace | undefined } = {},
): Database {
  createIfMissing(file);
  const writing = connect(file);
  const reading = connect(file);
  writing.pragma('busy_timeout = 0');
  reading.pragma(`busy_timeout = ${READING_TIMEOUT_MS}`);
  writing.pragma('synchronous = NORMAL');
  const wal = openWriteAheadLog(file, writing, disk);
  const kept = createKeptAnswers(writing);
  const onCommit = new Set<() => void>();
  const writer = tracedConnection(sqliteConnection(writing), trace);
  const listener = {
    committed: kept.committed,
    durable: () => {
      for (const notify of onCommit) notify();
    },
    failed: kept.failed,
  };
  const queriesOfOne = () => queriesUntilEnd(writer, sqliteDialect);
  const commits = createGroupCommit(writing, queriesOfOne, wal, listener, busyTimes);
  const reader = queriesOn(tracedConnection(readerConnection(reading, wal), trace), sqliteDialect);
  const snapshots = createSnapshots(() => {
    const connection = connect(file);
    connection.pragma(`busy_timeout = ${READING_TIMEOUT_MS}`);
    connection.pragma('query_only = ON');
    const reader = tracedConnection(sqliteConnection(connection), trace);
    return { connection, begin: () => queriesUntilEnd(reader, sqliteDialect) };
  }, wal.read);
  const changes = createChangeFeed(
    sqliteChanges(reading, log, {
      onOwnCommit(listener) {
        onCommit.add(listener);
        return () => onCommit.delete(listener);
      },
    }),
  );
  const commitMark = reading.prepare('pragma data_version').pluck();
  // Reads the file, unlike a constant expression.
  const alive = reading.prepare('select name from sqlite_schema limit 1');

  return {
    dialect: 'sqlite',
    reader,
    changes,
    write: trace === undefined ? commits.write : (work) => trace.transaction(work, commits.write),
    snapshot: snapshots.read,
    withoutTimeLimit: (work) => work(reader),
    prepare<Parameters extends object, Row>(
      build: (queries: Queries, parameter: ParameterOf<Parameters>) => Compilable<Row>,
      rows: AnswerRows<Parameters>,
    ): PreparedQuery<Parameters, Row> {
      const compiled = build(reader, (name) => sql.val<Parameters[typeof name]>(placeholder(name))).compile();
      const fill = parameterFiller(compiled);
      const remembered = kept.create<readonly Row[]>(checkedRows(compiled, rows));
      let statement: PreparedStatement<Row> | undefined;
      return async (parameters) => {
        const values = fill(parameters);
        const key = JSON.stringify(values);
        const answer = () =>
          remembered.get(key, parameters, () => {
            statement ??= prepareStatement<Row>(reading, compiled.sql);
            return statement.all(values);
          });
        if (remembered.has(key, parameters)) return answer();
        const read = () => wal.read(answer);
        return trace === undefined ? read() : trace.statement(compiled.sql, read);
      };
    },
    // Of a connection that only reads, so that it shows the commits of the writing one, too.
    commitMark() {
      try {
        return Number(commitMark.get());
      } catch {
        // The caller's next statement reports the fault.
        return null;
      }
    },
    ping: () =>
      wal.read(() => {
        alive.get();
      }),
    async close() {
      await changes.close();
      await commits.idle();
      kept.close();
      await snapshots.close();
      writing.close();
      reading.close();
      wal.close();
    },
  };
}

/**
 * Creates the file, readable by its owner only; SQLite gives its side files the same mode. An existing file is not opened, because
 * closing any descriptor of a file releases all POSIX locks of the process on it (fcntl(2)), including those of SQLite's connections.
 * Other SQLite clients would then delete the WAL in use.
 */
function createIfMissing(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
  }
}

function connect(file: string): Sqlite.Database {
  const connection = new Sqlite(file, { timeout: OPENING_TIMEOUT_MS });
  connection.pragma('journal_mode = WAL');
  connection.pragma('synchronous = FULL');
  connection.pragma('foreign_keys = ON');
  connection.pragma('cache_size = -16000');
  return connection;
}

interface PreparedStatement<Row> {
  readonly returnsRows: boolean;
  all(parameters: readonly unknown[]): Row[];
  run(parameters: readonly unknown[]): Sqlite.RunResult;
}

/**
 * SQLite has neither booleans nor JSON. The declared type of a column decides how its values are converted, so no list of column names
 * must be kept in step with the schema.
 */
function prepareStatement<Row>(connection: Sqlite.Database, text: string): PreparedStatement<Row> {
  const statement = connection.prepare<unknown[], Row>(text);
  const revive = statement.reader ? reviver(statement.columns()) : undefined;
  return {
    returnsRows: statement.reader,
    all(parameters) {
      const rows = statement.all(...parameters.map(bindable));
      if (revive) for (const row of rows) if (typeof row === 'object' && row !== null) revive(row);
      return rows;
    },
    run: (parameters) => statement.run(...parameters.map(bindable)),
  };
}

function bindable(value: unknown): unknown {
  if (typeof value === 'boolean') return value ? 1 : 0;
  return value === undefined ? null : value;
}

function reviver(columns: Sqlite.ColumnDefinition[]): ((row: object) => void) | undefined {
  const booleans = columns.filter((column) => column.type === 'BOOLEAN').map((column) => column.name);
  const documents = columns.filter((column) => column.type === 'JSON_TEXT').map((column) => column.name);
  if (booleans.length === 0 && documents.length === 0) return undefined;
  return (row) => {
    for (const name of booleans) {
      const value: unknown = Reflect.get(row, name);
      if (value !== null) Reflect.set(row, name, value === 1);
    }
    for (const name of documents) {
      const value: unknown = Reflect.get(row, name);
      if (typeof value === 'string') Reflect.set(row, name, JSON.parse(value));
    }
  };
}

/** A connection for reading what is durable. */
function readerConnection(connection: Sqlite.Database, log: Pick<WriteAheadLog, 'read'>): DatabaseConnection {
  const reader = sqliteConnection(connection);
  return {
    executeQuery: <Row>(query: CompiledQuery): Promise<QueryResult<Row>> =>
      log.read(() => reader.executeQuery<Row>(query)),
    streamQuery: reader.streamQuery,
  };
}

/** A query builder on a connection. */
export function sqliteQueries(connection: Sqlite.Database): Queries {
  return queriesOn(sqliteConnection(connection), sqliteDialect);
}

/** `write` begins transactions. Kysely's own begin ones that fail as busy. */
const sqliteDialect: Dialect = {
  createAdapter: () => new SqliteAdapter(),
  createDriver: () => new DummyDriver(),
  createIntrospector: (db) => new SqliteIntrospector(db),
  createQueryCompiler: () => new SqliteCompiler(),
};

/** Kysely's own connection prepares every statement again. */
function sqliteConnection(connection: Sqlite.Database): DatabaseConnection {
  const statements = new Map<string, PreparedStatement<unknown>>();
  return {
    async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
      let statement = statements.get(query.sql);
      if (!statement) {
        if (statements.size >= STATEMENT_CACHE) statements.clear();
        statement = prepareStatement(connection, query.sql);
        statements.set(query.sql, statement);
      }
      if (statement.returnsRows) return { rows: rowsOf<Row>(statement.all(query.parameters)) };
      const { changes, lastInsertRowid } = statement.run(query.parameters);
      return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) };
    },
    streamQuery() {
      throw new Error('streaming is not used on SQLite');
    },
  };
}

/** The query builder derives the row type from the schema; the driver cannot know it. */
function rowsOf<Row>(rows: unknown): Row[] {
  // biome-ignore lint/suspicious/noExplicitAny: the one place where rows take the type the query builder gives them
  return rows as any;
}
