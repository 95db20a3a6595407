import type { SelectQueryBuilder } from 'kysely';
import type { PageOf, PageRequest } from '../lib/page.ts';
import type { Queries } from './database.ts';

/** Items of a history that are counted. Counting further ones takes longer than reading a page. */
export const MOST_COUNTED = 10_000;

/** A query whose rows are counted. Of its tables, any. */
// biome-ignore lint/suspicious/noExplicitAny: the builder's own types of tables and of rows
type Rows = SelectQueryBuilder<any, any, any>;

/** The number of rows of a query without columns, at most {@link MOST_COUNTED}. */
export async function countBounded(queries: Queries, rows: Rows): Promise<number> {
  const counted = rows.select((eb) => eb.lit(1).as('one')).limit(MOST_COUNTED);
  const { count } = await queries
    .selectFrom(counted.as('counted'))
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return count;
}

/** The page of a list whose `rows` were read with one more than the limit. */
export function boundedPage<Item>(
  count: number,
  rows: readonly Item[],
  { limit }: PageRequest,
): PageOf<Item> & { hasNext: boolean } {
  return { count, results: rows.slice(0, limit), hasNext: rows.length > limit };
}
