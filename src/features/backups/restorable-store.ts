import type { Queries } from '../../database/database.ts';
import { pointsOf, stateOf } from './recovery-points/store.ts';

/** A snapshot of a whole website, which `restore` of its host takes by its id. */
export interface Restorable {
  id: string;
  /** When it was made; what came later is lost. */
  created_at: string;
  /** When what it stored was read back, or all of it was restored in a check; null if never, as of recovery points. */
  verified_at: string | null;
  /** The recovery point that the host needs for it, too; null for backups and whole recovery points. */
  base_id: string | null;
  /** Until then, the website is known to have had no later changes; `created_at` if that is unknown. */
  covered_at: string;
}

/**
 * Snapshots from which a lost website can be restored, best first: verified backups and recovery points before other backups, newer ones before older ones.
 * Checkpoints count, and backups that the lost machine missed: only the machine that restores them knows what is there.
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
    pointsOf(queries, installId),
    stateOf(queries, installId),
  ]);
  const shown = backups.map((backup) => ({ ...backup, base_id: null, covered_at: backup.created_at }));
  const others = points.map(({ id, base_id, taken_at }, index) => ({
    ...{ id, base_id, created_at: taken_at, verified_at: null },
    covered_at: index === 0 ? (state?.covered_at ?? taken_at) : taken_at,
  }));
  return [
    ...[...shown.filter(({ verified_at }) => verified_at !== null), ...others].sort((one, other) =>
      one.created_at < other.created_at ? 1 : -1,
    ),
    ...shown.filter(({ verified_at }) => verified_at === null),
  ];
}

/** Whether a host that has these snapshots can restore it. */
export const isAmong = (
  { id, base_id }: Pick<Restorable, 'id' | 'base_id'>,
  held: ReadonlySet<string>,
): boolean => held.has(id) && (base_id === null || held.has(base_id));
