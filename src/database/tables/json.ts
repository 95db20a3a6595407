import type { ColumnType } from 'kysely';

/** Parsed when read, text when written. Readers check it against a schema. */
export type Json = ColumnType<unknown, string, string>;
/** The same, with a database default. */
export type GeneratedJson = ColumnType<unknown, string | undefined, string>;
export type NullableJson = ColumnType<unknown, string | null, string | null>;
