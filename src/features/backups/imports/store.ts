import type { Queries } from '../../../database/database.ts';
import { importWebsite } from '../jobs.ts';

/** Whether an import into an install waits or runs. */
export async function isImportUnfinished(queries: Queries, installId: string): Promise<boolean> {
  const job = await queries
    .selectFrom('jobs')
    .select('id')
    .where('lane', '=', installId)
    .where('kind', '=', importWebsite.name)
    .where('state', 'in', ['queued', 'running'])
    .executeTakeFirst();
  return job !== undefined;
}
