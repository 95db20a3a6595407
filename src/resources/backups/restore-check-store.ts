import type { Insertable } from 'kysely';
import type { Queries } from '../../database/database.ts';
import type { Tables } from '../../database/tables.ts';
import type { InstallRef } from '../../hosting/host.ts';

/** An install whose backup is restored on trial. */
export interface CheckedInstall extends InstallRef {
  php_version: string | null;
  wordpress_version: string | null;
}

/** The install of a backup, if that is one to be restored. */
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
    .executeTakeFirst();
}

export async function insertRestoreCheck(
  queries: Queries,
  check: Insertable<Tables['restore_checks']>,
): Promise<void> {
  await queries.insertInto('restore_checks').values(check).execute();
}

/** Whether a job of a kind waits or is under way. */
export async function isUnderWay(queries: Queries, kind: string): Promise<boolean> {
  const job = await queries
    .selectFrom('jobs')
    .select('id')
    .where('kind', '=', kind)
    .where('state', 'in', ['queued', 'running'])
    .executeTakeFirst();
  return job !== undefined;
}

/** The newest completed backup of the install that was checked longest ago, or never. */
export async function longestUnchecked(
  queries: Queries,
): Promise<{ install_id: string; backup_id: string; host_id: string | null } | undefined> {
  const row = await queries
    .selectFrom('installs as install')
    .innerJoin('backups as backup', 'backup.install_id', 'install.id')
    .leftJoin('restore_checks as checked', 'checked.install_id', 'install.id')
    .select((eb) => ['install.id', 'install.host_id', eb.fn.max('checked.seq').as('last')])
    .where('install.status', '=', 'active')
    .where('backup.status', '=', 'completed')
    .groupBy(['install.id', 'install.host_id'])
    .orderBy((eb) => eb.fn.coalesce(eb.fn.max('checked.seq'), eb.lit(0)))
    .orderBy((eb) => eb.fn.min('install.seq'))
    .limit(1)
    .executeTakeFirst();
  if (!row) return undefined;
  const newest = await queries
    .selectFrom('backups')
    .select('id')
    .where('install_id', '=', row.id)
    .where('status', '=', 'completed')
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst();
  return newest && { install_id: row.id, backup_id: newest.id, host_id: row.host_id };
}
