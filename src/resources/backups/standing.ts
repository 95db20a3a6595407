import { type Clock, timestamp } from '../../clock.ts';
import type { Queries } from '../../database/database.ts';
import { DAY_MS } from '../../durations.ts';

/** A daily backup may be late by a night. */
const RECENT_MS = 2 * DAY_MS;

/** Names of the active installs that are older than two days and have no completed backup of that time, oldest first. */
export async function withoutRecentBackup(queries: Queries, clock: Clock): Promise<string[]> {
  const since = timestamp(clock, -RECENT_MS);
  const rows = await queries
    .selectFrom('installs as install')
    .select('install.name')
    .where('install.status', '=', 'active')
    .where('install.created_at', '<', since)
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('backups as backup')
            .select('backup.id')
            .whereRef('backup.install_id', '=', 'install.id')
            .where('backup.status', '=', 'completed')
            .where('backup.created_at', '>=', since),
        ),
      ),
    )
    .orderBy('install.seq')
    .execute();
  return rows.map(({ name }) => name);
}

/** How a backup fared that was restored on trial. */
export interface SeenRestoreCheck {
  install_name: string;
  took_ms: number;
  /** Why it could not be restored, one sentence; null if it could. */
  reason: string | null;
  created_at: string;
}

/** The installs whose last trial failed, the latest first. */
export async function unrestorable(queries: Queries): Promise<SeenRestoreCheck[]> {
  return checks(queries)
    .where('restore_check.reason', 'is not', null)
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('restore_checks as later')
            .select('later.id')
            .whereRef('later.install_id', '=', 'restore_check.install_id')
            .whereRef('later.seq', '>', 'restore_check.seq'),
        ),
      ),
    )
    .execute();
}

/** The last trial of all, however it ended. */
export async function lastRestoreCheck(queries: Queries): Promise<SeenRestoreCheck | undefined> {
  return checks(queries).limit(1).executeTakeFirst();
}

function checks(queries: Queries) {
  return queries
    .selectFrom('restore_checks as restore_check')
    .innerJoin('installs as install', 'install.id', 'restore_check.install_id')
    .select([
      'install.name as install_name',
      'restore_check.took_ms',
      'restore_check.reason',
      'restore_check.created_at',
    ])
    .orderBy('restore_check.seq', 'desc');
}
