import type { Queries } from '../../../database/database.ts';
import { copiesLane, copyInstall, importWebsite, prepareCopy, restoreBackup } from '../jobs.ts';

const REPLACEMENTS = [prepareCopy, copyInstall, importWebsite, restoreBackup].map(({ name }) => name);

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

/** Whether a copy, an import or a restore into an install waits or runs. */
export async function isBeingReplaced(queries: Queries, installId: string): Promise<boolean> {
  const job = await queries
    .selectFrom('jobs')
    .select('id')
    .where('lane', 'in', [installId, copiesLane(installId)])
    .where('kind', 'in', REPLACEMENTS)
    .where('state', 'in', ['queued', 'running'])
    .executeTakeFirst();
  return job !== undefined;
}
