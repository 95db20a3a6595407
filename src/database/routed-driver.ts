import type { DatabaseConnection, Driver, QueryResult } from 'kysely';
import type { Transaction } from './database.ts';

/** A driver whose queries run in the open transaction of the current unit of work, if there is one. */
export function routedDriver(driver: Driver, openTransaction: () => Transaction | undefined): Driver {
  const routed = new WeakSet<DatabaseConnection>();
  return {
    init: (options) => driver.init(options),
    async acquireConnection(options) {
      const open = openTransaction();
      if (!open) return driver.acquireConnection(options);
      const connection = connectionOf(open);
      routed.add(connection);
      return connection;
    },
    beginTransaction: (connection, settings) => driver.beginTransaction(connection, settings),
    commitTransaction: (connection) => driver.commitTransaction(connection),
    rollbackTransaction: (connection) => driver.rollbackTransaction(connection),
    async releaseConnection(connection, options) {
      if (!routed.has(connection)) await driver.releaseConnection(connection, options);
    },
    destroy: (options) => driver.destroy(options),
  };
}

function connectionOf({ queries }: Transaction): DatabaseConnection {
  return {
    executeQuery: <Row>(
      query: Parameters<DatabaseConnection['executeQuery']>[0],
    ): Promise<QueryResult<Row>> => queries.executeQuery<Row>(query),
    streamQuery() {
      throw new Error('streaming is not used');
    },
  };
}
