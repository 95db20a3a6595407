import type { Insertable } from 'kysely';
import type { Queries } from '../../database/database.ts';
import { installRanges } from '../../database/install-ranges.ts';
import type { Tables } from '../../database/tables.ts';
import type { InstallRef } from '../../hosting/contract/install-ref.ts';

/** An install with the backup that a restore check uses. */
export interface CheckedInstall extends InstallRef {
  php_version: string | null;
  wordpress_version: string | null;
}

/** The install of a backup, if the backup can be restored. */
export function findCheckedInstall(
  queries: Queries,
  installId: string,
  backupId: string,
): Promise<CheckedInstall | undefined> {
  return queries
    .selectFrom('installs as install')
    .innerJoin('backups as backup', 'backup.install_id', 'install.id')
    .select(['install.id', 'install.name', 'install.php_version', 'install.wordpress_version'])
    .where('install.id', '=', installId)
    .where('install.status', '=', 'active')
    .where('backup.id', '=', backupId)
    .where('backup.status', '=', 'completed')
    .where('backup.missing_since', 'is', null)
    .executeTakeFirst();
}

export async function insertRestoreCheck(
  queries: Queries,
  check: Insertable<Tables['restore_checks']>,
): Promise<void> {
  await queries.insertInto('restore_checks').values(check).execute();
}

/** Whether a job of a kind is unfinished. */
export async function isUnderWay(queries: Queries, kind: string): Promise<boolean> {
  const job = await queries
    .selectFrom('jobs')
    .select('id')
    .where('kind', '=', kind)
    .where('state', 'in', ['queued', 'running'])
    .executeTakeFirst();
  return job !== undefined;
}

/**
 * The backup to check next: the newest of the install whose last check is oldest, or missing. After a check that succeeded, an install whose
 * last one failed comes first, so that a fixed cause shows within two checks, however many installs there are.
 */
export async function nextToCheck(
  queries: Queries,
): Promise<{ install_id: string; backup_id: string; host_id: string | null } | undefined> {
  const last = await lastRestoreCheck(queries);
  const failed = last?.reason === null ? await unrestorable(queries) : [];
  const again = failed.at(-1)?.install_id;
  const repeated =
    again === undefined
      ? undefined
      : await restorable(queries).where('install.id', '=', again).executeTakeFirst();
  const chosen = repeated ?? (await longestUnchecked(queries));
  if (!chosen) return undefined;
  const newest = await queries
    .selectFrom('backups')
    .select('id')
    .where('install_id', '=', chosen.id)
    .where('status', '=', 'completed')
    .where('deleting', '=', false)
    .where('missing_since', 'is', null)
    .where('copy_job_id', 'is', null)
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst();
  return newest && { install_id: chosen.id, backup_id: newest.id, host_id: chosen.host_id };
}

/** The `seq` of the last check of an install without one. */
const NEVER = 0;

async function longestUnchecked(queries: Queries) {
  let longest: { id: string; host_id: string | null; last: number } | undefined;
  for await (const { after, to } of installRanges(queries)) {
    const found = await restorable(queries)
      .where('install.seq', '>', after)
      .where('install.seq', '<=', to)
      .orderBy('last')
      .orderBy('install.seq')
      .limit(1)
      .executeTakeFirst();
    if (found !== undefined && (longest === undefined || found.last < longest.last)) longest = found;
    if (longest?.last === NEVER) break;
  }
  return longest;
}

/** Active installs with a backup that can be restored. `last`: the `seq` of their last check. */
function restorable(queries: Queries) {
  return queries
    .selectFrom('installs as install')
    .select((eb) => [
      'install.id',
      'install.host_id',
      eb.fn
        .coalesce(
          eb
            .selectFrom('restore_checks as checked')
            .select((of) => of.fn.max('checked.seq').as('seq'))
            .whereRef('checked.install_id', '=', 'install.id'),
          eb.lit(NEVER),
        )
        .as('last'),
    ])
    .where('install.status', '=', 'active')
    .where((eb) =>
      eb.exists(
        eb
          .selectFrom('backups as backup')
          .select('backup.id')
          .whereRef('backup.install_id', '=', 'install.id')
          .where('backup.status', '=', 'completed')
          .where('backup.deleting', '=', false)
          .where('backup.missing_since', 'is', null)
          .where('backup.copy_job_id', 'is', null),
      ),
    );
}

/** The result of a restore check. */
export interface SeenRestoreCheck {
  install_id: string;
  install_name: string;
  took_ms: number;
  /** Reason of the failure, one sentence; null if the restore succeeded. */
  reason: string | null;
  created_at: string;
}

/** The last restore checks of installs that failed, latest first. Without those of deleted backups, which no one can restore. */
export async function unrestorable(queries: Queries): Promise<SeenRestoreCheck[]> {
  return checks(queries)
    .where('restore_check.reason', 'is not', null)
    .where((eb) =>
      eb.exists(
        eb
          .selectFrom('backups')
          .select('backups.id')
          .whereRef('backups.id', '=', 'restore_check.backup_id')
          .where('backups.deleting', '=', false),
      ),
    )
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

/** The latest restore check, whatever its result. */
export async function lastRestoreCheck(queries: Queries): Promise<SeenRestoreCheck | undefined> {
  return checks(queries).limit(1).executeTakeFirst();
}

function checks(queries: Queries) {
  return queries
    .selectFrom('restore_checks as restore_check')
    .innerJoin('installs as install', 'install.id', 'restore_check.install_id')
    .select([
      'restore_check.install_id',
      'install.name as install_name',
      'restore_check.took_ms',
      'restore_check.reason',
      'restore_check.created_at',
    ])
    .orderBy('restore_check.seq', 'desc');
}
