import { type DatabaseConnection, DefaultQueryExecutor, type Dialect, Kysely } from 'kysely';
import type { Queries } from './database.ts';
import type { Tables } from './tables.ts';

/**
 * A query builder on one connection. Calling `execute` hands the statement to the connection at once, so statements that are started together
 * run in the order of the calls. Kysely's own driver first waits for several promises, more of them for the first statement.
 */
export function queriesOn(connection: DatabaseConnection, dialect: Dialect): Queries {
  const executor = new DefaultQueryExecutor(dialect.createQueryCompiler(), dialect.createAdapter(), {
    provideConnection: (consumer) => consumer(connection),
  });
  return new Kysely<Tables>({ config: { dialect }, dialect, driver: dialect.createDriver(), executor });
}

/**
 * The same for one transaction on a connection that others use later. A statement after `end`, of work that went on without being awaited,
 * would run in the transaction of another request: it is refused.
 */
export function queriesUntilEnd(
  connection: DatabaseConnection,
  dialect: Dialect,
): { queries: Queries; end(): void } {
  let hasEnded = false;
  const queries = queriesOn(
    {
      executeQuery: (query) =>
        hasEnded
          ? Promise.reject(new Error('A statement was refused, because its transaction has ended.'))
          : connection.executeQuery(query),
      streamQuery: () => {
        throw new Error('streaming is not used');
      },
    },
    dialect,
  );
  return {
    queries,
    end() {
      hasEnded = true;
    },
  };
}
