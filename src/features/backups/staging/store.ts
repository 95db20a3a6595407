import type { Queries } from '../../../database/database.ts';

/** The id of the production install of a site. */
export async function findProductionOf(queries: Queries, siteId: string): Promise<string | undefined> {
  const found = await queries
    .selectFrom('installs')
    .select('id')
    .where('site_id', '=', siteId)
    .where('environment', '=', 'production')
    .executeTakeFirst();
  return found?.id;
}
