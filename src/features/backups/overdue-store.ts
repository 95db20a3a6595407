import type { Queries } from '../../database/database.ts';
import { hasNewer, isRetained } from './missing-store.ts';
import { UNFINISHED } from './store.ts';

export interface OverdueTimes {
  /** Older checkpoints have expired. */
  checkpointsBefore: string;
  /** See {@link isRetained}. */
  movedAfter: string;
}

/** Backups that nothing keeps any longer: a user deleted them, or they are checkpoints past their time and not the last backup. */
function overdue(queries: Queries, { checkpointsBefore, movedAfter }: OverdueTimes) {
  return (
    queries
      .selectFrom('backups as backup')
      .select(['backup.id', 'backup.install_id'])
      // Found by their indexes, before the rest is asked of them.
      .where('backup.seq', 'in', (of) =>
        of
          .selectFrom('backups')
          .select('seq')
          .where('deleting', '=', of.lit(true))
          .unionAll(
            of
              .selectFrom('backups')
              .select('seq')
              .where('checkpoint', '=', of.lit(true))
              .where('created_at', '<', checkpointsBefore),
          ),
      )
      .where('backup.status', 'not in', UNFINISHED)
      .where((eb) =>
        eb.or([
          eb('backup.deleting', '=', true),
          eb.and([
            eb('backup.checkpoint', '=', true),
            eb('backup.created_at', '<', checkpointsBefore),
            eb.not(isRetained(eb, movedAfter)),
            hasNewer(eb),
          ]),
        ]),
      )
  );
}

/** Whether a backup was deleted by a user, or is an expired checkpoint. */
export async function isDiscardable(
  queries: Queries,
  backupId: string,
  times: OverdueTimes,
): Promise<boolean> {
  const found = await overdue(queries, times).where('backup.id', '=', backupId).executeTakeFirst();
  return found !== undefined;
}

/** All such backups of active installs without a pending deletion, oldest first. */
export function overdueBackups(
  queries: Queries,
  { discarding, limit, ...times }: OverdueTimes & { discarding: string; limit: number },
): Promise<{ id: string; install_id: string }[]> {
  return overdue(queries, times)
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
    .limit(limit)
    .execute();
}
