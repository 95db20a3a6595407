import type { Queries } from '../../database/database.ts';
import { installRanges } from '../../database/install-ranges.ts';
import { hasNewer, isRetained } from './missing-store.ts';
import { UNFINISHED } from './store.ts';

/** Counts unfinished jobs of some kinds, without those that wait for an unreachable host. */
export async function countUnderWay(queries: Queries, kinds: readonly string[]): Promise<number> {
  const { count } = await queries
    .selectFrom('jobs')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('state', 'in', ['queued', 'running'])
    .where('kind', 'in', kinds)
    .where((eb) => eb.or([eb('state', '=', 'running'), eb('attempt', '>', 0), eb('error', 'is', null)]))
    .executeTakeFirstOrThrow();
  return count;
}

/**
 * The active installs on reachable hosts, with all their data, without a daily backup of a night. A backup aborted before `again` does not
 * count, up to `most` aborted ones.
 */
export async function installsWithoutBackup(
  queries: Queries,
  { night, again, most }: { night: string; again: string; most: number },
): Promise<{ id: string; created_at: string }[]> {
  const found: { id: string; created_at: string }[] = [];
  for await (const { after, to } of installRanges(queries)) {
    const rows = await queries
      .selectFrom('installs as install')
      .leftJoin('hosts as host', 'host.id', 'install.host_id')
      .select(['install.id', 'install.created_at'])
      .where('install.seq', '>', after)
      .where('install.seq', '<=', to)
      .where('install.status', '=', 'active')
      // Backups of what is left would replace the good ones.
      .where('install.lost_data', 'is', null)
      // An unreachable host must not find a pile of jobs on its return.
      .where('host.reason', 'is', null)
      .where((eb) =>
        eb.not(
          eb.exists(
            eb
              .selectFrom('backups as backup')
              .select('backup.id')
              .whereRef('backup.install_id', '=', 'install.id')
              .where('backup.scheduled', '=', true)
              .where((of) =>
                of.or([
                  of('backup.status', 'in', UNFINISHED),
                  of('backup.created_at', '>=', night)
                    .and('backup.missing_since', 'is', null)
                    .and(of.or([of('backup.status', '<>', 'aborted'), of('backup.finished_at', '>', again)])),
                ]),
              ),
          ),
        ),
      )
      .where(
        (eb) =>
          eb
            .selectFrom('backups as aborted')
            .select((of) => of.fn.countAll<number>().as('count'))
            .whereRef('aborted.install_id', '=', 'install.id')
            .where('aborted.scheduled', '=', true)
            .where('aborted.status', '=', 'aborted')
            .where('aborted.created_at', '>=', night),
        '<',
        most,
      )
      .execute();
    found.push(...rows);
  }
  return found;
}

/**
 * Daily backups of an install that were requested before `before`, except the install's last completed backup of any
 * kind that its host holds. None while {@link isRetained}.
 */
export function expiredBackups(
  queries: Queries,
  installId: string,
  { before, movedAfter }: { before: string; movedAfter: string },
): Promise<{ id: string }[]> {
  return queries
    .selectFrom('backups as backup')
    .select('backup.id')
    .where('backup.install_id', '=', installId)
    .where('backup.scheduled', '=', true)
    .where('backup.created_at', '<', before)
    .where('backup.status', 'in', ['completed', 'aborted'])
    .where((eb) => eb.not(isRetained(eb, movedAfter)))
    .where((eb) => eb.or([eb('backup.status', '=', 'aborted'), hasNewer(eb)]))
    .orderBy('backup.seq')
    .execute();
}

export async function deleteBackup(queries: Queries, backupId: string): Promise<void> {
  await queries.deleteFrom('backups').where('id', '=', backupId).execute();
}

/** Names of active installs created before a time without a completed backup since then, oldest first. */
export async function installsWithoutBackupSince(queries: Queries, since: string): Promise<string[]> {
  const names: string[] = [];
  for await (const { after, to } of installRanges(queries)) {
    const rows = await queries
      .selectFrom('installs as install')
      .select('install.name')
      .where('install.seq', '>', after)
      .where('install.seq', '<=', to)
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
              .where('backup.copy_job_id', 'is', null)
              .where('backup.deleting', '=', false)
              .where('backup.missing_since', 'is', null)
              .where('backup.created_at', '>=', since),
          ),
        ),
      )
      .orderBy('install.seq')
      .execute();
    names.push(...rows.map(({ name }) => name));
  }
  return names;
}
