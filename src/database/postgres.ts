import { type Compilable, CompiledQuery, Kysely, PostgresDialect, sql } from 'kysely';
import pg from 'pg';
import type { Logger } from 'pino';
import { type AnswerRows, checkedRows } from './answer-rows.ts';
import { createChangeFeed } from './change-feed.ts';
import {
  type Database,
  type ParameterOf,
  type PreparedQuery,
  parameterFiller,
  placeholder,
  type Queries,
  type Transaction,
} from './database.ts';
import { queriesOn } from './direct-queries.ts';
import { postgresChanges } from './postgres-changes.ts';
import { connectionOf, createPostgresTransactions, namedStatement } from './postgres-transactions.ts';
import { type QueryTrace, tracedConnection } from './query-trace.ts';
import type { Tables } from './tables.ts';

const POOL_SIZE = 10;
/** Timeouts in milliseconds. */
export interface PostgresTimeouts {
  /** Includes the wait for one of the pool's connections, which takes seconds on a starved machine. */
  connectMs: number;
  /** Enforced by the server, which cancels the statement. */
  statementMs: number;
  /** Enforced here, for a server that no longer responds. */
  replyMs: number;
}
const TIMEOUTS: PostgresTimeouts = { connectMs: 15_000, statementMs: 30_000, replyMs: 35_000 };
/**
 * Pages that are read in no order cost little more than others on solid state disks and in memory. With PostgreSQL's default of 4, which is
 * for rotating disks, it reads whole tables and indexes of other accounts instead of looking up the 100 rows of a page.
 */
export const PLANNING = '-c random_page_cost=1.1';
/** Serialisation failure and deadlock: nothing was done, and PostgreSQL's documentation advises a retry. */
const RETRY_CODES = new Set(['40001', '40P01']);
const RETRIES = 4;

/** Connects to PostgreSQL (13 or newer). Opens connections on demand. */
export function openPostgres(
  url: string,
  log: Logger,
  { timeouts = TIMEOUTS, trace }: { timeouts?: PostgresTimeouts; trace?: QueryTrace | undefined } = {},
): Database {
  const pool = new pg.Pool({
    ...withPlanning(url),
    max: POOL_SIZE,
    connectionTimeoutMillis: timeouts.connectMs,
    statement_timeout: timeouts.statementMs,
    query_timeout: timeouts.replyMs,
    keepAlive: true,
    application_name: 'homeport',
    pipeline: true,
    types: { getTypeParser },
  });
  // A broken idle connection is replaced at the next use. Without a listener, its error would end the process.
  pool.on('error', (error) => {
    // pg-pool attaches the client, whose statements and settings would fill 50 kB of the log.
    Reflect.deleteProperty(error, 'client');
    log.warn({ err: error }, 'an idle database connection broke');
  });
  // So would a connection that breaks between two statements of a transaction. The next statement fails and reports it.
  pool.on('connect', (client) => client.on('error', () => {}));

  // Gives the compiler; its driver is not used.
  const dialect = new PostgresDialect({ pool });
  const queries = queriesOn(
    tracedConnection(
      connectionOf((text, parameters) => sendAlone(pool, text, parameters)),
      trace,
    ),
    dialect,
  );
  const transactions = createPostgresTransactions(pool, dialect, trace);

  const changes = createChangeFeed(postgresChanges(url, log));

  async function attempt<Result>(work: (transaction: Transaction) => Promise<Result>): Promise<Result> {
    const effects: (() => void)[] = [];
    const result = await transactions.run('begin', (queries, commitWith) =>
      work({ dialect: 'postgres', queries, afterCommit: (effect) => effects.push(effect), commitWith }),
    );
    for (const effect of effects) effect();
    return result;
  }

  async function write<Result>(work: (transaction: Transaction) => Promise<Result>): Promise<Result> {
    for (let tried = 1; ; tried++) {
      try {
        return await attempt(work);
      } catch (error) {
        if (tried > RETRIES || !isRetryable(error)) throw error;
      }
    }
  }

  return {
    dialect: 'postgres',
    reader: queries,
    commitMark: () => null,
    changes,
    write: trace === undefined ? write : (work) => trace.transaction(work, write),
    snapshot: (work) => transactions.run('start transaction isolation level repeatable read read only', work),
    withoutTimeLimit: (work) => withoutTimeLimit(url, timeouts.connectMs, work),
    prepare<Parameters extends object, Row>(
      build: (queries: Queries, parameter: ParameterOf<Parameters>) => Compilable<Row>,
      rows: AnswerRows<Parameters>,
    ): PreparedQuery<Parameters, Row> {
      const compiled = build(queries, (name) =>
        sql.val<Parameters[typeof name]>(placeholder(name)),
      ).compile();
      checkedRows(compiled, rows);
      const fill = parameterFiller(compiled);
      return async (parameters) => {
        const values = fill(parameters);
        const send = () => pool.query<Row & pg.QueryResultRow>(namedStatement(compiled.sql, values));
        return (await (trace === undefined ? send() : trace.statement(compiled.sql, send))).rows;
      };
    },
    ping: async () => {
      await pool.query('select 1');
    },
    async close() {
      await changes.close();
      await pool.end();
    },
  };
}

/**
 * The address, and {@link PLANNING} before the operator's options. pg uses only one source of options: the address, then its settings, and
 * those of the environment last. Otherwise the address stays as it is, because pg reads escapes differently if one is invalid.
 */
function withPlanning(url: string): { connectionString: string; options: string } {
  const address = new URL(url);
  const given = address.searchParams.get('options');
  if (given === null) return { connectionString: url, options: `${PLANNING} ${process.env.PGOPTIONS ?? ''}` };
  address.searchParams.delete('options');
  return { connectionString: address.href, options: `${PLANNING} ${given}` };
}

/** Of the server, in seconds. Sessions on a Unix socket ignore them. */
const SHORT_KEEPALIVES =
  'set tcp_keepalives_idle = 10; set tcp_keepalives_interval = 5; set tcp_keepalives_count = 3';

async function withoutTimeLimit<Result>(
  connectionString: string,
  connectionTimeoutMillis: number,
  work: (queries: Queries) => Promise<Result>,
): Promise<Result> {
  const pool = new pg.Pool({
    ...{ connectionString, connectionTimeoutMillis, max: 1, keepAlive: true, types: { getTypeParser } },
    // It may hold a lock of its session while something else runs.
    idleTimeoutMillis: 0,
    application_name: 'homeport migrate',
  });
  pool.on('connect', (client) => client.on('error', () => {}));
  // Its statement reports what broke the connection.
  pool.on('error', () => {});
  const queries = new Kysely<Tables>({
    dialect: new PostgresDialect({
      pool,
      // The role or the database may have a limit.
      onCreateConnection: async (connection) => {
        await connection.executeQuery(CompiledQuery.raw('set statement_timeout = 0'));
        // Otherwise the server keeps the locks of a machine that lost its power for two hours.
        await connection.executeQuery(CompiledQuery.raw(SHORT_KEEPALIVES));
      },
    }),
  });
  try {
    return await work(queries);
  } finally {
    await queries.destroy();
  }
}

/** Host and name of the database of an address, without user and password. */
export function placeOf(databaseUrl: string): string {
  const { host, pathname } = new URL(databaseUrl);
  return `${host}${pathname}`;
}

function isRetryable(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code !== undefined && RETRY_CODES.has(error.code);
}

/** Sends one statement on a connection of the pool. Kysely's own driver takes a quarter more processor time for a short one. */
async function sendAlone(
  pool: pg.Pool,
  text: string,
  parameters: readonly unknown[] = [],
): Promise<pg.QueryResult> {
  const client = await pool.connect();
  try {
    const result = await client.query(namedStatement(text, parameters));
    client.release();
    return result;
  } catch (error) {
    client.release(!isUsableAfter(error));
    throw error;
  }
}

/** PostgreSQL ends the session with an error of this class, such as at a restart. The connection still looks open then. */
const ENDED = /^57P/;

/** Whether the connection can be used again. After an error that is not the server's, its state is unknown. */
const isUsableAfter = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && !ENDED.test(error.code ?? '');

const { builtins } = pg.types;

/** Returns numbers, times and booleans as SQLite does: JSON types, with times in ISO 8601 UTC. */
function getTypeParser(oid: number): (text: string) => unknown {
  switch (oid) {
    case builtins.INT8:
    case builtins.NUMERIC:
      return Number;
    case builtins.TIMESTAMPTZ:
      return isoTime;
    default:
      return pg.types.getTypeParser(oid);
  }
}

/** A time without a fraction or in milliseconds in UTC, as PostgreSQL writes it if that is the server's time zone. */
const IN_UTC = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(\.\d{1,3})?\+00$/;

/** Converts a time of PostgreSQL into ISO 8601 in UTC. A list has hundreds, and parsing each into a `Date` takes four times as long. */
function isoTime(text: string): string {
  const [, day, time, fraction = '.'] = IN_UTC.exec(text) ?? [];
  return day === undefined ? new Date(text).toISOString() : `${day}T${time}${fraction.padEnd(4, '0')}Z`;
}
