import { type RawBuilder, sql } from 'kysely';
import type { Queries } from '../../../database/database.ts';

/** The keys of tags in a filter, which separates them by commas. */
const keysIn = (keys: string): string[] => [...new Set(keys.split(','))];

/** A condition for the column with the id of a site: the site has all these tags. `keys` are separated by commas. */
export function hasTags(siteId: RawBuilder<unknown>, keys: string): RawBuilder<boolean> {
  return sql<boolean>`(${sql.join(
    keysIn(keys).map(
      (key) =>
        sql`exists (select 1 from site_tags as given where given.site_id = ${siteId} and given.key = ${key})`,
    ),
    sql` and `,
  )})`;
}

/** The ids of the sites of some accounts that have the first of these tags, from an index. The others are for {@link hasTags}. */
export function sitesWithTag(queries: Queries, accountIds: readonly string[], keys: string) {
  const [key = ''] = keysIn(keys);
  return queries
    .selectFrom('site_tags as tagged')
    .select('tagged.site_id')
    .where('tagged.account_id', 'in', accountIds)
    .where('tagged.key', '=', key);
}

/** The stored number of sites and installs of these accounts with a tag; null for several tags together. */
export async function countsOfTag(
  queries: Queries,
  accountIds: readonly string[],
  keys: string,
): Promise<{ sites: number; installs: number } | null> {
  const [key = '', ...others] = keysIn(keys);
  if (others.length > 0) return null;
  const rows = await queries
    .selectFrom('tag_counts')
    .select(['sites', 'installs'])
    .where('account_id', 'in', accountIds)
    .where('key', '=', key)
    .execute();
  return {
    sites: rows.reduce((sum, row) => sum + row.sites, 0),
    installs: rows.reduce((sum, row) => sum + row.installs, 0),
  };
}
