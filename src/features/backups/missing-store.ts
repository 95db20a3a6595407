import type { ExpressionBuilder, ExpressionWrapper, SqlBool } from 'kysely';
import type { Queries } from '../../database/database.ts';
import { installRanges } from '../../database/install-ranges.ts';
import type { Tables } from '../../database/tables.ts';
import { hasWithoutIndex } from '../../database/without-index.ts';
import type { InstallRef } from '../../hosting/contract/install-ref.ts';

/** An install with completed backups. */
export interface BackedUpInstall extends InstallRef {
  seq: number;
  host_id: string | null;
}

/** Active installs with completed backups, in the order of their creation, in pages that may be empty. */
export async function* backedUpInstalls(
  queries: Queries,
  hostId: string | null | undefined,
): AsyncGenerator<BackedUpInstall[]> {
  for await (const { after, to } of installRanges(queries)) {
    yield await queries
      .selectFrom('installs as install')
      .select(['install.id', 'install.name', 'install.seq', 'install.host_id'])
      .where('install.seq', '>', after)
      .where('install.seq', '<=', to)
      .where('install.status', '=', 'active')
      .$if(hostId !== undefined, (query) => query.where(hasWithoutIndex('install.host_id', hostId ?? null)))
      .where((eb) =>
        eb.exists(
          eb
            .selectFrom('backups as backup')
            .select('backup.id')
            .whereRef('backup.install_id', '=', 'install.id')
            .where('backup.status', '=', 'completed')
            .where('backup.deleting', '=', false),
        ),
      )
      .orderBy('install.seq')
      .execute();
  }
}

/** Whether backups of deleted installs of a host are kept. */
export async function hasKeptBackups(queries: Queries, hostId: string | null): Promise<boolean> {
  const row = await queries
    .selectFrom('deleted_installs')
    .select('id')
    .where('state', '=', 'kept')
    .where('host_id', 'is not distinct from', hostId)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** A completed backup, and since when its host does not hold it. */
export interface ListedBackup {
  id: string;
  missing_since: string | null;
}

/** The completed backups of an install, as far as they are listed. */
export function completedBackups(queries: Queries, installId: string): Promise<ListedBackup[]> {
  return queries
    .selectFrom('backups')
    .select(['id', 'missing_since'])
    .where('install_id', '=', installId)
    .where('status', '=', 'completed')
    .where('deleting', '=', false)
    .execute();
}

/** Notes that backups are missing since `since`, or null: that they are there again. */
export async function noteMissing(
  queries: Queries,
  backupIds: readonly string[],
  since: string | null,
): Promise<void> {
  if (backupIds.length === 0) return;
  await queries
    .updateTable('backups')
    .set({ missing_since: since })
    .where('id', 'in', backupIds)
    .where('missing_since', since === null ? 'is not' : 'is', null)
    .execute();
}

/** Whether a comparison of the backups in a lane has not begun yet. */
export async function isWaiting(queries: Queries, lane: string): Promise<boolean> {
  const job = await queries
    .selectFrom('jobs')
    .select('id')
    .where('lane', '=', lane)
    .where('state', '=', 'queued')
    .limit(1)
    .executeTakeFirst();
  return job !== undefined;
}

/** How many backups each install misses, in the order of their creation. */
export async function missingByInstall(
  queries: Queries,
  hostId?: string,
): Promise<{ name: string; backups: number }[]> {
  const rows = await queries
    .selectFrom('backups as backup')
    .innerJoin('installs as install', 'install.id', 'backup.install_id')
    .select((eb) => ['install.name', eb.fn.countAll<number>().as('backups')])
    .where('backup.missing_since', 'is not', null)
    .where('backup.deleting', '=', false)
    .where('backup.copy_job_id', 'is', null)
    .$if(hostId !== undefined, (query) => query.where('install.host_id', '=', hostId ?? ''))
    .groupBy(['install.name', 'install.seq'])
    .orderBy('install.seq')
    .execute();
  return rows.map(({ name, backups }) => ({ name, backups: Number(backups) }));
}

type OfBackup = ExpressionBuilder<Tables & { backup: Tables['backups'] }, 'backup'>;

/**
 * Whether no backup of an install is deleted automatically. That is so while some are missing, because the others may soon be all there
 * is, and if its host has moved them after `movedAfter`.
 */
export function isRetained(eb: OfBackup, movedAfter: string): ExpressionWrapper<Tables, never, SqlBool> {
  return eb.or([
    eb.exists(
      eb
        .selectFrom('backups as missing')
        .select('missing.id')
        .whereRef('missing.install_id', '=', 'backup.install_id')
        .where('missing.missing_since', 'is not', null)
        .where('missing.deleting', '=', false),
    ),
    eb.exists(
      eb
        .selectFrom('installs as install')
        .innerJoin('hosts as host', 'host.id', 'install.host_id')
        .select('install.id')
        .whereRef('install.id', '=', 'backup.install_id')
        .where('host.backups_moved_at', '>', movedAfter),
    ),
  ]);
}

/** Whether the install has a later backup that is complete and there, so that it can do without this one. */
export function hasNewer(eb: OfBackup): ExpressionWrapper<Tables, never, SqlBool> {
  return eb.exists(
    eb
      .selectFrom('backups as newer')
      .select('newer.id')
      .whereRef('newer.install_id', '=', 'backup.install_id')
      .whereRef('newer.seq', '>', 'backup.seq')
      .where('newer.status', '=', 'completed')
      .where('newer.copy_job_id', 'is', null)
      .where('newer.deleting', '=', false)
      .where('newer.missing_since', 'is', null),
  );
}
