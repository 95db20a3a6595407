import type Sqlite from 'better-sqlite3';
import { quoted, type TargetTable } from './target-tables.ts';

/** Values of a row as text, in the order of the table's columns. Null: no value. */
export type TextRow = readonly (string | null)[];

/** Limits of one batch. A row can have a megabyte of JSON. */
const MOST_ROWS = 500;
const MOST_CHARACTERS = 2_000_000;

/** Reads all rows of a table in batches. The connection must not write meanwhile. Throws if SQLite lacks a column, or has bytes in one. */
export function* batchesOf(source: Sqlite.Database, table: TargetTable): Generator<TextRow[]> {
  const columns = table.columns.map(({ name }) => quoted(name)).join(', ');
  const rows = source
    .prepare<[], unknown[]>(`select ${columns} from ${quoted(table.name)}`)
    .raw()
    .safeIntegers()
    .iterate();
  let batch: TextRow[] = [];
  let characters = 0;
  for (const row of rows) {
    const texts = row.map((value) => textOf(value, table.name));
    batch.push(texts);
    characters += texts.reduce((sum, text) => sum + (text?.length ?? 0), 0);
    if (batch.length < MOST_ROWS && characters < MOST_CHARACTERS) continue;
    yield batch;
    batch = [];
    characters = 0;
  }
  if (batch.length > 0) yield batch;
}

export function countRows(source: Sqlite.Database, tables: readonly TargetTable[]): number {
  return tables.reduce(
    (sum, { name }) =>
      sum +
      Number(
        source
          .prepare(`select count(*) from ${quoted(name)}`)
          .pluck()
          .get(),
      ),
    0,
  );
}

function textOf(value: unknown, table: string): string | null {
  if (value === null) return null;
  if (typeof value === 'string') return value;
  if (typeof value === 'bigint' || typeof value === 'number') return String(value);
  throw new Error(`the table ${table} has a value of the type ${typeof value}`);
}
