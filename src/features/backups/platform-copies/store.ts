import type { Queries } from '../../../database/database.ts';
import { adoptWebsiteCopy } from '../jobs.ts';

/** A backup that was made from the copy of a website in a platform backup. */
interface AdoptedBackup {
  id: string;
  install_id: string;
  description: string;
  bytes: number;
  files: number;
  sha256: string;
  /** When the copy was made. */
  created_at: string;
  /** When the host had stored and verified it. */
  finished_at: string;
}

export async function insertAdopted(queries: Queries, backup: AdoptedBackup): Promise<void> {
  await queries
    .insertInto('backups')
    .values({
      ...backup,
      notification_emails: JSON.stringify([]),
      status: 'completed',
      reason: null,
      requested_by: null,
      verified_at: backup.finished_at,
    })
    .execute();
}

/** Whether a copy for an install is being adopted, or waits for it. */
export async function isAdoptionUnfinished(queries: Queries, installId: string): Promise<boolean> {
  const job = await queries
    .selectFrom('jobs')
    .select('id')
    .where('lane', '=', installId)
    .where('kind', '=', adoptWebsiteCopy.name)
    .where('state', 'in', ['queued', 'running'])
    .executeTakeFirst();
  return job !== undefined;
}
