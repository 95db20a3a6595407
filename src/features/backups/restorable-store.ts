import type { Queries } from '../../database/database.ts';

/** A snapshot of a whole website, which `restore` of its host takes by its id. */
export interface Restorable {
  id: string;
  /** When it was made; what came later is lost. */
  created_at: string;
  /** When what it stored was read back, or all of it was restored in a check; null if never. Recovery points are not read back. */
  verified_at: string | null;
  /** Until then, the website is known to have had no later changes; `created_at` if that is unknown. */
  covered_at: string;
}

/**
 * Snapshots from which a lost website can be restored, best first: verified backups and recovery points before other backups, newer ones
 * before older ones. Checkpoints count, and backups that the lost machine missed: only the machine that restores them knows what is there.
 */
export async function restorableSnapshots(queries: Queries, installId: string): Promise<Restorable[]> {
  const [backups, points, state] = await Promise.all([
    queries
      .selectFrom('backups')
      .select(['id', 'created_at', 'verified_at'])
      .where('install_id', '=', installId)
      .where('status', '=', 'completed')
      .where('deleting', '=', false)
      .where('copy_job_id', 'is', null)
      .orderBy('seq', 'desc')
      .execute(),
    queries
      .selectFrom('recovery_points')
      .select(['id', 'taken_at'])
      .where('install_id', '=', installId)
      .where('deleting', '=', false)
      .orderBy('seq', 'desc')
      .execute(),
    queries
      .selectFrom('recovery_states')
      .select('covered_at')
      .where('install_id', '=', installId)
      .executeTakeFirst(),
  ]);
  const [newest] = points;
  const shown = backups.map((backup) => ({ ...backup, covered_at: backup.created_at }));
  const others = points.map(({ id, taken_at }) => ({
    ...{ id, created_at: taken_at, verified_at: null },
    covered_at: id === newest?.id ? (state?.covered_at ?? taken_at) : taken_at,
  }));
  return [
    ...[...shown.filter(({ verified_at }) => verified_at !== null), ...others].sort((one, other) =>
      one.created_at < other.created_at ? 1 : -1,
    ),
    ...shown.filter(({ verified_at }) => verified_at === null),
  ];
}
