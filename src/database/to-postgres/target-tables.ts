import type pg from 'pg';
import { OperatorError } from '../../lib/operator-error.ts';

/** A table of PostgreSQL that rows are copied into. */
export interface TargetTable {
  name: string;
  columns: readonly TargetColumn[];
  /** Columns whose values name a row. */
  key: readonly TargetColumn[];
}

export interface TargetColumn {
  name: string;
  /** Its type, as a cast names it. */
  type: string;
  /** Whether PostgreSQL counts up its values. */
  isIdentity: boolean;
}

/** Kysely's record of the migrations, which the target has already. */
const OF_MIGRATOR = new Set(['kysely_migration', 'kysely_migration_lock']);
/** The change feed of SQLite. PostgreSQL has notifications. */
export const ONLY_IN_SQLITE: ReadonlySet<string> = new Set(['changes']);

interface ColumnRow extends TargetColumn {
  table: string;
  in_key: boolean;
}

/** The tables of the connection's schema and their columns, in order. */
export async function targetTables(client: pg.ClientBase): Promise<TargetTable[]> {
  const { rows } = await client.query<ColumnRow>(
    `select entry.relname as "table", attribute.attname as name, attribute.attidentity <> '' as "isIdentity",
       format_type(attribute.atttypid, attribute.atttypmod) as type,
       coalesce(attribute.attnum = any (keys.indkey), false) as in_key
     from pg_class as entry
       join pg_attribute as attribute on attribute.attrelid = entry.oid and attribute.attnum > 0 and not attribute.attisdropped
       left join lateral (
         select indkey from pg_index
         where indrelid = entry.oid and indisunique and indpred is null and indexprs is null
         order by indisprimary desc, indexrelid limit 1
       ) as keys on true
     where entry.relnamespace = current_schema()::regnamespace and entry.relkind = 'r'
     order by entry.relname, attribute.attnum`,
  );
  const tables = Map.groupBy(rows, ({ table }) => table);
  return [...tables]
    .filter(([name]) => !OF_MIGRATOR.has(name))
    .map(([name, columns]) => ({ name, columns, key: columns.filter((column) => column.in_key) }));
}

/** Throws OperatorError if a platform uses the database. `migrations`: those that it must have, if it has any tables. */
export async function requireUnused(client: pg.ClientBase, migrations: readonly string[]): Promise<void> {
  const tables = await client.query<{ name: string }>(
    `select tablename as name from pg_tables where schemaname not in ('pg_catalog', 'information_schema') order by 1`,
  );
  const names = new Set(tables.rows.map(({ name }) => name));
  if (names.size === 0) return;
  // What a move that was interrupted leaves: the tables, without rows.
  if (names.has('kysely_migration') && names.has('users') && names.has('accounts')) {
    const made = await client.query<{ name: string }>('select name from kysely_migration order by 1');
    const rows = await client.query('select from users union all select from accounts limit 1');
    if (rows.rowCount === 0 && made.rows.map(({ name }) => name).join() === [...migrations].sort().join())
      return;
  }
  throw new OperatorError(
    `The database is not empty: it has the table ${[...names][0]}${names.size > 1 ? ` and ${names.size - 1} more` : ''}. ` +
      'Create an empty one with "createdb", and name it in --to.',
  );
}

/** Quotes a name for PostgreSQL and SQLite. */
export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
