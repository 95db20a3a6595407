import type { DatabaseConnection } from 'kysely';

/** Traces the statements of requests and jobs. A database without it sends them as if traces did not exist. */
export interface QueryTrace {
  /** Sends a statement within a span. `text`: with placeholders for values. */
  statement<Result>(text: string, send: () => Promise<Result>): Promise<Result>;
  /**
   * Runs a transaction within a span, from the request for it to its commit. `work` may run in a group with transactions of other requests, and
   * its statements still belong to this span.
   */
  transaction<Work extends (...args: never[]) => unknown, Result>(
    work: Work,
    run: (work: Work) => Promise<Result>,
  ): Promise<Result>;
}

/** The connection, whose statements are traced. Each is sent at once, as without traces. */
export const tracedConnection = (
  connection: DatabaseConnection,
  trace: QueryTrace | undefined,
): DatabaseConnection =>
  trace === undefined
    ? connection
    : {
        executeQuery: (query) => trace.statement(query.sql, () => connection.executeQuery(query)),
        streamQuery: connection.streamQuery,
      };
