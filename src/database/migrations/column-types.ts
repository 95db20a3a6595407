/** Homeport's column types in each dialect. */
export interface ColumnTypes {
  /** A number that grows with each row; the primary key. */
  seq: string;
  uuid: string;
  time: string;
  boolean: string;
  json: string;
  integer: string;
  /** Text compared byte by byte, as SQLite always does. */
  text: string;
  true: string;
  false: string;
}

/** The declared names BOOLEAN and JSON_TEXT tell the SQLite driver how to read the values back (sqlite.ts). */
export const SQLITE_TYPES: ColumnTypes = {
  seq: 'integer primary key autoincrement',
  uuid: 'text',
  time: 'text',
  boolean: 'BOOLEAN',
  json: 'JSON_TEXT',
  integer: 'integer',
  text: 'text',
  true: '1',
  false: '0',
};

export const POSTGRES_TYPES: ColumnTypes = {
  seq: 'bigint generated always as identity primary key',
  uuid: 'uuid',
  time: 'timestamptz(3)',
  boolean: 'boolean',
  json: 'jsonb',
  integer: 'bigint',
  text: 'text collate "C"',
  true: 'true',
  false: 'false',
};
