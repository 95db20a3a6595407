import type { Queries } from '../../database/database.ts';
import { UNFINISHED } from './store.ts';

/** Marks a backup for deletion after its copy. */
export async function setCopyJob(queries: Queries, backupId: string, jobId: string): Promise<void> {
  await queries.updateTable('backups').set({ copy_job_id: jobId }).where('id', '=', backupId).execute();
}

/** Assigns such a backup to the next job. Backups to be kept stay unmarked. */
export async function moveCopyJob(queries: Queries, backupId: string, jobId: string): Promise<void> {
  await queries
    .updateTable('backups')
    .set({ copy_job_id: jobId })
    .where('id', '=', backupId)
    .where('copy_job_id', 'is not', null)
    .execute();
}

/** A backup that is copied into another install. */
export function findCopiedBackup(queries: Queries, backupId: string) {
  return queries
    .selectFrom('backups')
    .select(['status', 'copy_job_id'])
    .where('id', '=', backupId)
    .executeTakeFirst();
}

/** Whether a backup was made for a copy that has ended. */
export async function isUsedCopyBackup(queries: Queries, backupId: string): Promise<boolean> {
  const found = await spent(queries).where('backup.id', '=', backupId).executeTakeFirst();
  return found !== undefined;
}

/** All such backups without a pending deletion. */
export function spentBackups(
  queries: Queries,
  discarding: string,
): Promise<{ id: string; install_id: string }[]> {
  return spent(queries)
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('jobs as discard')
            .select('discard.id')
            // Lanes have the type text.
            .where((of) => of('discard.lane', '=', of.cast<string>('backup.install_id', 'text')))
            .where('discard.kind', '=', discarding)
            .where('discard.state', 'in', ['queued', 'running']),
        ),
      ),
    )
    .orderBy('backup.seq')
    .execute();
}

function spent(queries: Queries) {
  return queries
    .selectFrom('backups as backup')
    .select(['backup.id', 'backup.install_id'])
    .where('backup.copy_job_id', 'is not', null)
    .where('backup.status', 'not in', UNFINISHED)
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('jobs as copy')
            .select('copy.id')
            .whereRef('copy.id', '=', 'backup.copy_job_id')
            .where('copy.state', 'in', ['queued', 'running']),
        ),
      ),
    );
}
