import type Sqlite from 'better-sqlite3';
import pg from 'pg';
import { OperatorError } from '../../lib/operator-error.ts';
import { batchesOf, type TextRow } from './source-rows.ts';
import { quoted, type TargetTable } from './target-tables.ts';

/**
 * Copies the rows of all tables, in the transaction of `client`. Triggers would count the copied counts once more, and foreign keys would ask
 * for an order that does not exist, so both are put back afterwards. Then PostgreSQL checks every key. Throws OperatorError if it refuses rows.
 */
export async function copyRows(
  source: Sqlite.Database,
  client: pg.ClientBase,
  tables: readonly TargetTable[],
  onRows: (count: number) => void,
): Promise<void> {
  await client.query(`truncate ${tables.map(({ name }) => quoted(name)).join(', ')}`);
  const keys = await client.query<{ on: string; name: string; definition: string }>(
    `select conrelid::regclass::text as "on", conname as name, pg_get_constraintdef(oid) as definition
     from pg_constraint where contype = 'f' and connamespace = current_schema()::regnamespace`,
  );
  for (const { on, name } of keys.rows)
    await client.query(`alter table ${on} drop constraint ${quoted(name)}`);
  for (const table of tables) {
    await client.query(`alter table ${quoted(table.name)} disable trigger user`);
    for (const batch of batchesOf(source, table)) {
      await insert(client, table, batch);
      onRows(batch.length);
    }
    await client.query(`alter table ${quoted(table.name)} enable trigger user`);
    await continueCounting(source, client, table);
  }
  for (const { on, name, definition } of keys.rows) {
    await client.query(`alter table ${on} add constraint ${quoted(name)} ${definition}`).catch(refusing(on));
  }
}

/** Inserts rows. PostgreSQL converts the text of each value into the type of its column. */
async function insert(
  client: pg.ClientBase,
  { name, columns }: TargetTable,
  batch: readonly TextRow[],
): Promise<void> {
  const names = columns.map((column) => quoted(column.name));
  const arrays = columns.map((_column, at) => `$${at + 1}::text[]`);
  const casts = columns.map(({ type }, at) => `row.${names[at]}::${type}`);
  const text =
    `insert into ${quoted(name)} (${names.join(', ')}) overriding system value ` +
    `select ${casts.join(', ')} from unnest(${arrays.join(', ')}) as row(${names.join(', ')})`;
  const values = columns.map((_column, at) => batch.map((row) => row[at] ?? null));
  await client.query(text, values).catch(refusing(name));
}

/** SQLite's next number of a column that it counts up is also PostgreSQL's, so that none is used twice. */
async function continueCounting(
  source: Sqlite.Database,
  client: pg.ClientBase,
  { name, columns }: TargetTable,
): Promise<void> {
  const counted = columns.find(({ isIdentity }) => isIdentity);
  if (counted === undefined) return;
  const last = source
    .prepare<[string], number>('select seq from sqlite_sequence where name = ?')
    .pluck()
    .get(name);
  if (last === undefined || last === 0) return;
  await client.query('select setval(pg_get_serial_sequence($1, $2), $3)', [quoted(name), counted.name, last]);
}

const refusing = (table: string) => (error: unknown) => {
  if (!(error instanceof pg.DatabaseError)) throw error;
  throw new OperatorError(
    `PostgreSQL does not take the rows of the table ${table}: ${error.message}${error.detail === undefined ? '' : ` (${error.detail})`}. ` +
      'Nothing was moved. Please report this.',
    { cause: error },
  );
};
