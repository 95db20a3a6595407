import type { Queries } from '../../database/database.ts';

/** A snapshot of a whole website, which `restore` of its host takes by its id. */
export interface Restorable {
  id: string;
  /** When it was made; what came later is lost. */
  created_at: string;
  /** When what it stored was read back, or all of it was restored in a check; null if never. */
  verified_at: string | null;
}

/**
 * What a website that its machine lost can be restored from, best first: verified ones before others, newer ones before older ones. Checkpoints count,
 * and backups that the lost machine missed: only the machine that restores them knows what is there.
 */
export async function restorableSnapshots(queries: Queries, installId: string): Promise<Restorable[]> {
  const rows = await queries
    .selectFrom('backups')
    .select(['id', 'created_at', 'verified_at'])
    .where('install_id', '=', installId)
    .where('status', '=', 'completed')
    .where('deleting', '=', false)
    .where('copy_job_id', 'is', null)
    .orderBy('seq', 'desc')
    .execute();
  return [
    ...rows.filter(({ verified_at }) => verified_at !== null),
    ...rows.filter(({ verified_at }) => verified_at === null),
  ];
}
