import type { ColumnType } from 'kysely';

/** Parsed when read, text when written. Whoever reads it checks it against a schema. */
export type Json = ColumnType<unknown, string, string>;
/** The same, with a default of the database's. */
export type GeneratedJson = ColumnType<unknown, string | undefined, string>;
export type NullableJson = ColumnType<unknown, string | null, string | null>;
