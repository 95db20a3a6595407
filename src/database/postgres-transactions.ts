import { createHash } from 'node:crypto';
import type { DatabaseConnection, Dialect } from 'kysely';
import pg from 'pg';
import { allDone } from '../lib/concurrency.ts';
import type { Queries, Transaction } from './database.ts';
import { queriesUntilEnd } from './direct-queries.ts';
import { type QueryTrace, tracedConnection } from './query-trace.ts';

/** Begins a transaction, with its settings. */
type Begin = 'begin' | 'start transaction isolation level repeatable read read only';

export interface PostgresTransactions {
  /** Runs `work` in a transaction. If `work` or a statement fails, rolls back and rethrows the first error. */
  run<Result>(
    begin: Begin,
    work: (queries: Queries, commitWith: Transaction['commitWith']) => Promise<Result>,
  ): Promise<Result>;
}

/**
 * Transactions on connections of the pool, which must have the option `pipeline`. Statements are sent when they are made, without waiting
 * for the answers to earlier ones, and those of one turn in one write: each write costs about 100 µs of processor time. So `begin` goes
 * with the first statement, and `commit` with the last ones if `work` says which they are: it commits nothing if one of them fails.
 * Kysely's own transactions wait for each answer.
 */
export function createPostgresTransactions(
  pool: Pick<pg.Pool, 'connect'>,
  dialect: Dialect,
  trace?: QueryTrace,
): PostgresTransactions {
  return {
    async run(begin, work) {
      const client = await pool.connect();
      const line = lineOf(client);
      const { queries, end } = queriesUntilEnd(tracedConnection(connectionOf(line.send), trace), dialect);
      // Its failure is that of the first statement as well.
      const begun = line.send(begin);
      begun.catch(() => {});
      let committed: Promise<pg.QueryResult> | undefined;
      const commit = () => {
        end();
        committed ??= line.send('commit');
        return committed;
      };
      try {
        const result = await work(queries, async (statements) => {
          const before = line.sent;
          const results = statements();
          // One that failed in this process sent nothing, and PostgreSQL would commit the others. The failure of the commit itself is
          // awaited below.
          if (line.sent - before === results.length) commit().catch(() => {});
          await allDone(results);
        });
        const [{ command }] = await Promise.all([commit(), begun]);
        // PostgreSQL answers so if `work` ignored the failure of a statement.
        if (command !== 'COMMIT') throw line.failure ?? new Error('the transaction was rolled back');
        client.release();
        return result;
      } catch (error) {
        end();
        const { failure } = line;
        // If it fails, the state of the connection is unknown.
        const isUsable = await line.send('rollback').then(
          () => true,
          () => false,
        );
        client.release(!isUsable);
        // After it, PostgreSQL refuses all others, for several reasons.
        throw error instanceof pg.DatabaseError && failure !== undefined ? failure : error;
      }
    },
  };
}

/** A connection, as one transaction uses it. */
interface Line {
  /** The error of the first statement of the transaction that failed. */
  failure: unknown;
  /** The number of statements so far. */
  sent: number;
  /** Sends a statement by its name: the server parses and plans it once for each connection. */
  send(text: string, parameters?: readonly unknown[]): Promise<pg.QueryResult>;
}

function lineOf(client: pg.PoolClient): Line {
  const line: Line = {
    failure: undefined,
    sent: 0,
    async send(text, parameters = []) {
      line.sent++;
      writeOnce(client);
      try {
        return await client.query(namedStatement(text, parameters));
      } catch (error) {
        line.failure ??= error;
        throw error;
      }
    },
  };
  return line;
}

/** A connection of the query builder that sends statements so. */
export function connectionOf(send: Line['send']): DatabaseConnection {
  return {
    async executeQuery(query) {
      const { rows, rowCount, command } = await send(query.sql, query.parameters);
      return {
        rows,
        ...(command !== 'SELECT' && rowCount !== null && { numAffectedRows: BigInt(rowCount) }),
      };
    },
    streamQuery() {
      throw new Error('cursors are not used');
    },
  };
}

const corked = new WeakSet<pg.PoolClient>();

/** Writes what is sent on a connection until the end of this turn's work at once. */
function writeOnce(client: pg.PoolClient): void {
  if (corked.has(client)) return;
  corked.add(client);
  const { stream } = client.connection;
  stream.cork();
  process.nextTick(() => {
    corked.delete(client);
    stream.uncork();
  });
}

/** Statements by their text. */
const named = new Map<string, { name: string; text: string }>();
const STATEMENTS_KEPT = 2_000;

/** The statement with a name. The server parses and plans a named statement once for each connection. */
export function namedStatement(text: string, parameters: readonly unknown[]) {
  let statement = named.get(text);
  if (statement === undefined) {
    if (named.size >= STATEMENTS_KEPT) named.clear();
    statement = { name: createHash('sha256').update(text).digest('base64url').slice(0, 24), text };
    named.set(text, statement);
  }
  // pg compares the text with that of the name, at once if it is the same string.
  return { name: statement.name, text: statement.text, values: [...parameters] };
}
