import type { Queries } from '../../database/database.ts';
import { installRanges } from '../../database/install-ranges.ts';

/** The ages of the newest complete backups of all active installs. */
export interface BackupAges {
  /** When the oldest of them was made; null without any. */
  oldest: string | null;
  /** Installs created before a time whose newest backup is older than that, or that have none. */
  without: number;
}

/** In ranges of all installs, so that no query takes long. `since`: the time that divides recent backups from others. */
export async function backupAges(queries: Queries, since: string): Promise<BackupAges> {
  let oldest: string | null = null;
  let without = 0;
  for await (const { after, to } of installRanges(queries)) {
    const ages = await queries
      .with('age', (db) =>
        db
          .selectFrom('installs as install')
          .select((eb) => [
            'install.created_at',
            eb
              .selectFrom('backups as backup')
              .select((of) => of.fn.max<string | null>('backup.created_at').as('last'))
              .whereRef('backup.install_id', '=', 'install.id')
              .where('backup.status', '=', 'completed')
              .where('backup.copy_job_id', 'is', null)
              .where('backup.deleting', '=', false)
              .where('backup.missing_since', 'is', null)
              .as('last'),
          ])
          .where('install.seq', '>', after)
          .where('install.seq', '<=', to)
          .where('install.status', '=', 'active'),
      )
      .selectFrom('age')
      .select((eb) => [
        eb.fn.min<string | null>('last').as('oldest'),
        eb.fn
          .countAll<number | string>()
          .filterWhere('created_at', '<', since)
          .filterWhere((of) => of.or([of('last', 'is', null), of('last', '<', since)]))
          .as('without'),
      ])
      .executeTakeFirstOrThrow();
    without += Number(ages.without);
    if (ages.oldest !== null && (oldest === null || ages.oldest < oldest)) oldest = ages.oldest;
  }
  return { oldest, without };
}
