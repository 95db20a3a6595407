import type { DatabaseConnection, Driver, QueryResult } from 'kysely';
import type { UnitsOfWork } from './units-of-work.ts';

/** A driver whose queries run in the open transaction of the current unit of work, if there is one. */
export function routedDriver(driver: Driver, units: () => Pick<UnitsOfWork, 'isInUnit' | 'read'>): Driver {
  const routed = new WeakSet<DatabaseConnection>();
  return {
    init: (options) => driver.init(options),
    async acquireConnection(options) {
      if (!units().isInUnit()) return driver.acquireConnection(options);
      const connection = connectionOfUnit(driver, units());
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

type Execute = DatabaseConnection['executeQuery'];

/** Decides at each query, because the unit may commit between two of them. */
function connectionOfUnit(driver: Driver, units: Pick<UnitsOfWork, 'read'>): DatabaseConnection {
  const executeOutside = async <Row>(query: Parameters<Execute>[0]): Promise<QueryResult<Row>> => {
    const connection = await driver.acquireConnection();
    try {
      return await connection.executeQuery<Row>(query);
    } finally {
      await driver.releaseConnection(connection);
    }
  };
  return {
    executeQuery: <Row>(query: Parameters<Execute>[0]) =>
      units.read(
        ({ queries }) => queries.executeQuery<Row>(query),
        () => executeOutside<Row>(query),
      ),
    streamQuery() {
      throw new Error('streaming is not used');
    },
  };
}
