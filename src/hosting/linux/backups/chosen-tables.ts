import { PermanentHostError } from '../../contract/errors.ts';
import { CORE_TABLES, wordpressPrefixes } from '../../wordpress/core-tables.ts';
import type { Databases } from '../daemons/databases.ts';
import { textLiteral } from '../daemons/sql.ts';

/** Some tables cannot be replaced alone. */
export class InseparableTablesError extends PermanentHostError {
  override name = 'InseparableTablesError';
}

/**
 * Requires that some tables can be replaced alone: the restored database has all of them, and no foreign key connects them with
 * other tables. Nor may a table of WordPress have another prefix than the website's. Otherwise rejects with an
 * {@link InseparableTablesError}. `mayLack`: the restored database need not have them.
 */
export async function requireSeparableTables(
  databases: Pick<Databases, 'query'>,
  { from, to }: { from: string; to: string },
  tables: readonly string[],
  mayLack: boolean,
): Promise<void> {
  if (!mayLack) {
    requireThere(await tablesOf(databases, from), tables);
    requireSamePrefix(await tablesOf(databases, to), tables);
  }
  for (const database of [from, to]) await requireNoBorderKey(databases, database, tables);
}

async function tablesOf(databases: Pick<Databases, 'query'>, database: string): Promise<ReadonlySet<string>> {
  const rows = await databases.query(
    database,
    `SELECT TABLE_NAME FROM information_schema.TABLES
      WHERE TABLE_SCHEMA = ${textLiteral(database)} AND TABLE_TYPE = 'BASE TABLE'`,
  );
  return new Set(rows.flat());
}

function requireThere(present: ReadonlySet<string>, tables: readonly string[]): void {
  const missing = tables.filter((name) => !present.has(name));
  if (missing.length > 0) {
    throw new InseparableTablesError(
      `The database has no table ${missing.map(quoted).join(', ')}. The website is unchanged.`,
    );
  }
}

/** WordPress ignores tables with another prefix than its own, so their restore would seem to do nothing. */
function requireSamePrefix(present: ReadonlySet<string>, tables: readonly string[]): void {
  const prefixes = wordpressPrefixes(present);
  const [prefix] = prefixes;
  const foreign = tables.find(
    (table) =>
      !present.has(table) &&
      CORE_TABLES.some((name) => table.endsWith(name)) &&
      // Plugins have such names after the prefix.
      !prefixes.some((own) => table.startsWith(own)),
  );
  if (prefix === undefined || foreign === undefined) return;
  throw new InseparableTablesError(
    `The tables of the website begin with "${prefix}", so its WordPress would not read the table ${quoted(foreign)}. Restore the files and the whole database instead. The website is unchanged.`,
  );
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
