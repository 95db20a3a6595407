import type { Queries } from '../../database/database.ts';
import type { ReportProgress } from '../../hosting/contract/progress.ts';
import type { RunningJob } from '../../jobs/job.ts';
import { findBackupDetails } from './store.ts';

/** Reports the progress of a restore. The size of the backup is the total if the host does not know it. */
export async function ofBackup(
  queries: Queries,
  backupId: string,
  progress: RunningJob['progress'],
): Promise<ReportProgress> {
  const bytes = (await findBackupDetails(queries, backupId))?.bytes ?? null;
  return (done, total) => {
    const whole = total ?? bytes;
    progress(whole === null ? done : Math.min(done, whole), whole, 'bytes');
  };
}
