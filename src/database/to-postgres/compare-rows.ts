import { isDeepStrictEqual } from 'node:util';
import type Sqlite from 'better-sqlite3';
import type pg from 'pg';
import { batchesOf, type TextRow } from './source-rows.ts';
import { quoted, type TargetColumn, type TargetTable } from './target-tables.ts';

/** A table whose rows differ after copying. Nobody can do anything about it, so it is not an error of the operator. */
export class DifferentRows extends Error {
  override name = 'DifferentRows';
}

/** Reads every row back, and compares each value with that in SQLite. Throws {@link DifferentRows}. */
export async function compareRows(
  source: Sqlite.Database,
  client: pg.ClientBase,
  tables: readonly TargetTable[],
  onRows: (count: number) => void,
): Promise<void> {
  for (const table of tables) {
    let compared = 0;
    for (const batch of batchesOf(source, table)) {
      await compareBatch(client, table, batch);
      compared += batch.length;
      onRows(batch.length);
    }
    const { rows } = await client.query<{ count: string }>(`select count(*) from ${quoted(table.name)}`);
    const present = Number(rows[0]?.count);
    if (present !== compared)
      throw new DifferentRows(`${table.name} has ${present} rows instead of ${compared}`);
  }
}

async function compareBatch(
  client: pg.ClientBase,
  { name, columns, key }: TargetTable,
  batch: readonly TextRow[],
): Promise<void> {
  const places = key.map((column) => columns.indexOf(column));
  const keyOf = (row: TextRow) =>
    JSON.stringify(key.map((column, at) => normal(row[places[at] ?? 0] ?? null, column)));
  const keys = key.map((column) => quoted(column.name));
  const text =
    `select ${columns.map((column) => shown(`entry.${quoted(column.name)}`, column)).join(', ')} from ${quoted(name)} as entry ` +
    `join unnest(${key.map((_column, at) => `$${at + 1}::text[]`).join(', ')}) as wanted(${keys.join(', ')}) ` +
    `on ${key.map(({ type }, at) => `entry.${keys[at]} = wanted.${keys[at]}::${type}`).join(' and ')}`;
  const values = places.map((place) => batch.map((row) => row[place] ?? null));
  const { rows } = await client.query<(string | null)[]>({ text, values, rowMode: 'array' });
  const found = new Map(rows.map((row) => [keyOf(row), row]));
  for (const row of batch) {
    const copy = found.get(keyOf(row));
    if (copy === undefined) throw new DifferentRows(`${name} lacks the row ${keyOf(row)}`);
    for (const [at, column] of columns.entries()) {
      if (!isSame(row[at] ?? null, copy[at] ?? null, column))
        throw new DifferentRows(`${name} has another ${column.name} in the row ${keyOf(row)}`);
    }
  }
}

/** The value as text, in the form that SQLite stores. */
function shown(value: string, { type }: TargetColumn): string {
  if (type === 'boolean') return `${value}::integer::text`;
  if (type.startsWith('timestamp'))
    return `to_char(${value} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
  return `${value}::text`;
}

function isSame(stored: string | null, copy: string | null, column: TargetColumn): boolean {
  if (stored === null || copy === null) return stored === copy;
  if (column.type === 'jsonb') return isDeepStrictEqual(JSON.parse(stored), JSON.parse(copy));
  return normal(stored, column) === normal(copy, column);
}

/** One text for all that mean the same value. */
function normal(text: string | null, { type }: TargetColumn): string | null {
  if (text === null) return null;
  if (type === 'uuid') return text.toLowerCase();
  if (type === 'double precision') return String(Number(text));
  if (type.startsWith('timestamp')) return text.replace(/(:\d\d)Z$/, '$1.000Z');
  return text;
}
