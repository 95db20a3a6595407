import type { Queries } from '../../database/database.ts';

/** The backup that a website without its data is restored from. */
export interface NewestBackup {
  id: string;
  created_at: string;
  /** When what it stored was read back, or all of it was restored in a check; null if never. */
  verified_at: string | null;
  /** If it is a recovery point: the name of its install. */
  pointOf?: string;
}

/**
 * The newest backup or recovery point of each install, verified backups and recovery points before other backups. Without backups of copies and checkpoints, which
 * are deleted soon.
 */
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
  const points = await queries
    .selectFrom('recovery_points as point')
    .innerJoin('installs as install', 'install.id', 'point.install_id')
    .select(['point.id', 'point.install_id', 'point.taken_at', 'install.name'])
    .where('point.install_id', 'in', [...new Set(installIds)])
    .orderBy('point.seq')
    .execute();
  for (const { id, install_id, taken_at, name } of points) {
    const present = newest.get(install_id);
    if (present !== undefined && present.verified_at !== null && present.created_at > taken_at) continue;
    newest.set(install_id, { id, created_at: taken_at, verified_at: null, pointOf: name });
  }
  return newest;
}
