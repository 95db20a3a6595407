import type { Queries } from '../../database/database.ts';

/** The backup that a website without its data is restored from. */
export interface NewestBackup {
  id: string;
  created_at: string;
  /** When what it stored was read back, or all of it was restored in a check; null if never. */
  verified_at: string | null;
}

/** The newest backup of each install, verified ones before others. Without those of copies and checkpoints, which are deleted soon. */
export async function newestBackups(
  queries: Queries,
  installIds: readonly string[],
): Promise<Map<string, NewestBackup>> {
  if (installIds.length === 0) return new Map();
  const rows = await queries
    .selectFrom('backups')
    .select(['id', 'install_id', 'created_at', 'verified_at'])
    .where('install_id', 'in', [...new Set(installIds)])
    .where('status', '=', 'completed')
    .where('missing_since', 'is', null)
    .where('deleting', '=', false)
    .where('copy_job_id', 'is', null)
    .where('checkpoint', '=', false)
    .orderBy('seq')
    .execute();
  const newest = new Map<string, NewestBackup>();
  for (const { install_id, ...backup } of rows) {
    if (backup.verified_at === null && (newest.get(install_id)?.verified_at ?? null) !== null) continue;
    newest.set(install_id, backup);
  }
  return newest;
}
