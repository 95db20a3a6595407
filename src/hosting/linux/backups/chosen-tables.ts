import { PermanentHostError } from '../../contract/errors.ts';
import type { Databases } from '../daemons/databases.ts';
import { textLiteral } from '../daemons/sql.ts';

/** Some tables cannot be replaced alone. */
export class InseparableTablesError extends PermanentHostError {
  override name = 'InseparableTablesError';
}

/**
 * Requires that some tables can be replaced alone: the restored database has all of them, and no foreign key connects them with
 * other tables. Otherwise rejects with an
 * {@link InseparableTablesError}. `mayLack`: the restored database need not have them.
 */
export async function requireSeparableTables(
  databases: Pick<Databases, 'query'>,
  { from, to }: { from: string; to: string },
  tables: readonly string[],
  mayLack: boolean,
): Promise<void> {
  if (!mayLack) await requireTables(databases, from, tables);
  for (const database of [from, to]) await requireNoBorderKey(databases, database, tables);
}

async function requireTables(
  databases: Pick<Databases, 'query'>,
  database: string,
  tables: readonly string[],
): Promise<void> {
  const rows = await databases.query(
    database,
    `SELECT TABLE_NAME FROM information_schema.TABLES
      WHERE TABLE_SCHEMA = ${textLiteral(database)} AND TABLE_TYPE = 'BASE TABLE'`,
  );
  const present = new Set(rows.flat());
  const missing = tables.filter((name) => !present.has(name));
  if (missing.length > 0) {
    throw new InseparableTablesError(
      `The database has no table ${missing.map(quoted).join(', ')}. The website is unchanged.`,
    );
  }
}

async function requireNoBorderKey(
  databases: Pick<Databases, 'query'>,
  database: string,
  tables: readonly string[],
): Promise<void> {
  const keys = await databases.query(
    database,
    `SELECT TABLE_NAME, REFERENCED_TABLE_NAME FROM information_schema.REFERENTIAL_CONSTRAINTS
      WHERE CONSTRAINT_SCHEMA = ${textLiteral(database)}`,
  );
  for (const [table = '', referenced = ''] of keys) {
    if (tables.includes(table) === tables.includes(referenced)) continue;
    throw new InseparableTablesError(
      `A foreign key connects the tables ${quoted(table)} and ${quoted(referenced)}. Name both or neither. The website is unchanged.`,
    );
  }
}

const quoted = (name: string) => `"${name}"`;
