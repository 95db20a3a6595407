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
