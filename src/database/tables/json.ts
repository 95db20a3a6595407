import type { ColumnType } from 'kysely';

/** Parsed when read, text when written. Whoever reads it checks it against a schema. */
export type Json = ColumnType<unknown, string, string>;
export type NullableJson = ColumnType<unknown, string | null, string | null>;
