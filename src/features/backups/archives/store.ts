import type { ExpressionBuilder } from 'kysely';
import type { Queries } from '../../../database/database.ts';
import type { BackupStatus } from '../../../database/tables/backups.ts';
import type { Tables } from '../../../database/tables.ts';
import type { PageOf, PageRequest } from '../../../lib/page.ts';

/** An archive as the API presents it. */
export interface SeenArchive {
  id: string;
  install_id: string;
  backup_id: string;
  notification_emails: unknown;
  state: BackupStatus;
  bytes: number | null;
  created_at: string;
  started_at: string | null;
  finished_at: string | null;
  expires_at: string | null;
}

const SEEN = [
  'id',
  'install_id',
  'backup_id',
  'notification_emails',
  'state',
  'bytes',
  'created_at',
  'started_at',
  'finished_at',
  'expires_at',
] as const;

export interface NewArchive {
  id: string;
  install_id: string;
  backup_id: string;
  notification_emails: readonly string[];
  requested_by: string | null;
  created_at: string;
}

export async function insertArchive(queries: Queries, archive: NewArchive): Promise<void> {
  await queries
    .insertInto('archives')
    .values({
      ...archive,
      notification_emails: JSON.stringify(archive.notification_emails),
      state: 'requested',
      bytes: null,
      sha256: null,
      reason: null,
      started_at: null,
      finished_at: null,
      expires_at: null,
    })
    .execute();
}

/** The archives of an install that have not expired, oldest first. */
export async function pageOfArchives(
  queries: Queries,
  installId: string,
  { now, ...page }: PageRequest & { now: string },
): Promise<PageOf<SeenArchive>> {
  const mine = queries
    .selectFrom('archives')
    .where('install_id', '=', installId)
    .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', now)]));
  const [{ count }, results] = await Promise.all([
    mine.select((eb) => eb.fn.countAll<number>().as('count')).executeTakeFirstOrThrow(),
    mine.select(SEEN).orderBy('seq').limit(page.limit).offset(page.offset).execute(),
  ]);
  return { count, results };
}

/** The archives of an install as the portal lists them, newest first. Expired ones are included until they are deleted. */
export async function pageOfListedArchives(queries: Queries, installId: string, page: PageRequest) {
  const mine = queries.selectFrom('archives as archive').where('archive.install_id', '=', installId);
  const [{ count }, results] = await Promise.all([
    mine.select((eb) => eb.fn.countAll<number>().as('count')).executeTakeFirstOrThrow(),
    mine
      .leftJoin('backups as backup', (join) =>
        join.onRef('backup.id', '=', 'archive.backup_id').on('backup.deleting', '=', false),
      )
      .select(['archive.id', 'archive.state', 'archive.bytes', 'archive.reason'])
      .select(['archive.created_at', 'archive.expires_at', 'backup.description as backup_description'])
      .orderBy('archive.seq', 'desc')
      .limit(page.limit)
      .offset(page.offset)
      .execute(),
  ]);
  return { count, results };
}

export function findArchive(queries: Queries, archiveId: string): Promise<SeenArchive | undefined> {
  return queries.selectFrom('archives').select(SEEN).where('id', '=', archiveId).executeTakeFirst();
}

/** An archive with what a download of it needs, if it is completed. */
export function findDownload(queries: Queries, archiveId: string) {
  return queries
    .selectFrom('archives as archive')
    .innerJoin('installs as install', 'install.id', 'archive.install_id')
    .select(['archive.id', 'archive.bytes', 'archive.sha256', 'archive.expires_at', 'archive.created_at'])
    .select(['install.id as install_id', 'install.name as install_name'])
    .where('archive.id', '=', archiveId)
    .where('archive.state', '=', 'completed')
    .executeTakeFirst();
}

/** The facts in a mail about an archive. */
export function findFinishedArchive(queries: Queries, archiveId: string) {
  return queries
    .selectFrom('archives as archive')
    .innerJoin('installs as install', 'install.id', 'archive.install_id')
    .select(['install.name as install_name', 'archive.backup_id', 'archive.state', 'archive.bytes'])
    .select(['archive.reason', 'archive.expires_at'])
    .where('archive.id', '=', archiveId)
    .executeTakeFirst();
}

/** The archives of an install that take space: unfinished, or completed and not expired. */
export function presentArchives(
  queries: Queries,
  installId: string,
  now: string,
): Promise<{ expires_at: string | null }[]> {
  return queries
    .selectFrom('archives')
    .select('expires_at')
    .where('install_id', '=', installId)
    .where('state', '<>', 'aborted')
    .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', now)]))
    .execute();
}

/** Marks an archive as begun, if it was just requested. */
export async function beginArchive(queries: Queries, archiveId: string, at: string): Promise<void> {
  await queries
    .updateTable('archives')
    .set({ state: 'in_progress', started_at: at })
    .where('id', '=', archiveId)
    .where('state', '=', 'requested')
    .execute();
}

/** The result of an archive. */
export type ArchiveOutcome =
  | { state: 'completed'; bytes: number; sha256: string }
  | { state: 'aborted'; reason: string };

/** Finishes an archive. Returns its notification facts; undefined if it has been deleted. */
export function finishArchive(
  queries: Queries,
  archiveId: string,
  outcome: ArchiveOutcome & { finished_at: string; expires_at: string },
) {
  return queries
    .updateTable('archives')
    .set(outcome)
    .where('id', '=', archiveId)
    .returning(['notification_emails', 'install_id'])
    .executeTakeFirst();
}

/** The times that decide whether an archive is over. */
export interface ArchiveLimits {
  now: string;
  /** The expiry of completed archives whose last downloads had enough time. */
  downloadedBy: string;
  /** The creation of unfinished archives that have no job any more. */
  unfinishedBefore: string;
}

/**
 * Archives to delete, oldest first: completed ones after the time for the last downloads, others once they expire, and unfinished
 * ones without a job, which are those of cancelled operations.
 */
export function archivesThatAreOver(
  queries: Queries,
  { limit, ...limits }: ArchiveLimits & { limit: number },
): Promise<{ id: string; install_id: string }[]> {
  return queries
    .selectFrom('archives')
    .select(['id', 'install_id'])
    .where((eb) => isOver(eb, limits))
    .orderBy('seq')
    .limit(limit)
    .execute();
}

/** Ends the links of installs' completed archives, and the downloads that run. */
export async function withdrawArchives(
  queries: Queries,
  installIds: readonly string[],
  { reason, now }: { reason: string; now: string },
): Promise<void> {
  if (installIds.length === 0) return;
  await queries
    .updateTable('archives')
    .set({ state: 'aborted', reason, expires_at: now })
    .where('install_id', 'in', installIds)
    .where('state', '=', 'completed')
    .execute();
}

/** Whether an archive is completed, has not been withdrawn or deleted, and expires after a time. */
export async function isDownloadable(
  queries: Queries,
  archiveId: string,
  expiresAfter: string,
): Promise<boolean> {
  const archive = await queries
    .selectFrom('archives')
    .select('id')
    .where('id', '=', archiveId)
    .where('state', '=', 'completed')
    .where('expires_at', '>', expiresAfter)
    .executeTakeFirst();
  return archive !== undefined;
}

/** Whether an archive is to be deleted, as in {@link archivesThatAreOver}. */
export async function isArchiveOver(
  queries: Queries,
  archiveId: string,
  limits: ArchiveLimits,
): Promise<boolean> {
  const archive = await queries
    .selectFrom('archives')
    .select('id')
    .where('id', '=', archiveId)
    .where((eb) => isOver(eb, limits))
    .executeTakeFirst();
  return archive !== undefined;
}

function isOver(
  eb: ExpressionBuilder<Tables, 'archives'>,
  { now, downloadedBy, unfinishedBefore }: ArchiveLimits,
) {
  return eb.or([
    eb('expires_at', '<=', downloadedBy),
    eb.and([eb('expires_at', '<=', now), eb('state', '<>', 'completed')]),
    eb.and([eb('expires_at', 'is', null), eb('created_at', '<', unfinishedBefore)]),
  ]);
}

export async function deleteArchive(queries: Queries, archiveId: string): Promise<void> {
  await queries.deleteFrom('archives').where('id', '=', archiveId).execute();
}
