import { type RawBuilder, sql } from 'kysely';

/** A condition for the column with the keys of a site: it has all these tags. `keys` are separated by commas. */
export function hasTags(column: RawBuilder<unknown>, keys: string): RawBuilder<boolean> {
  const patterns = keys.split(',').map((key) => `%\n${key.replaceAll(/[\\%_]/g, '\\$&')}\n%`);
  return sql<boolean>`(${sql.join(
    patterns.map((pattern) => sql`${column} like ${pattern} escape '\\'`),
    sql` and `,
  )})`;
}
