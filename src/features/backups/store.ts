import type { Queries } from '../../database/database.ts';
import type { BackupStatus } from '../../database/tables/backups.ts';
import type { PageOf, PageRequest } from '../../lib/page.ts';

export interface BackupView {
  id: string;
  status: BackupStatus;
}

/** A backup as the API presents it. */
export interface SeenBackup extends BackupView {
  description: string;
  created_at: string;
  finished_at: string | null;
  wordpress_version: string | null;
  scheduled: boolean;
  checkpoint: boolean;
  bytes: number | null;
  verified_at: string | null;
  /** Since when its host does not hold it any more; null while it does. */
  missing_since: string | null;
}

/** A backup as the command line shows it. */
export interface BackupDetails extends BackupView {
  install_id: string;
  install_name: string;
  description: string;
  bytes: number | null;
  reason: string | null;
  /** Made by the daily schedule. */
  scheduled: boolean;
  /** The job that copies it into another install and then deletes it; null for backups to be kept. */
  copy_job_id: string | null;
  missing_since: string | null;
  created_at: string;
}

/** A backup in the list of its install. */
export interface ListedBackup {
  id: string;
  description: string;
  status: BackupStatus;
  bytes: number | null;
  files: number | null;
  reason: string | null;
  scheduled: boolean;
  checkpoint: boolean;
  copy_job_id: string | null;
  created_at: string;
  finished_at: string | null;
  verified_at: string | null;
  missing_since: string | null;
}

/** A backup to insert. */
export interface NewBackup {
  id: string;
  install_id: string;
  description: string;
  notification_emails: readonly string[];
  /** Null for a daily backup. */
  requested_by: string | null;
  scheduled: boolean;
  /** Made before a restore; false by default. */
  checkpoint?: boolean;
  created_at: string;
}

/** The statuses of unfinished backups. */
export const UNFINISHED: BackupStatus[] = ['requested', 'in_progress'];

export async function insertBackup(queries: Queries, backup: NewBackup): Promise<void> {
  await queries
    .insertInto('backups')
    .values({
      ...backup,
      notification_emails: JSON.stringify(backup.notification_emails),
      status: 'requested',
      bytes: null,
      files: null,
      sha256: null,
      reason: null,
      finished_at: null,
    })
    .execute();
}

export function findBackup(
  queries: Queries,
  installId: string,
  backupId: string,
): Promise<SeenBackup | undefined> {
  return queries
    .selectFrom('backups')
    .select(SEEN)
    .where('id', '=', backupId)
    .where('install_id', '=', installId)
    .where('deleting', '=', false)
    .executeTakeFirst();
}

/** The request of a backup that is not deleted. */
export function findRequested(queries: Queries, installId: string, backupId: string) {
  return queries
    .selectFrom('backups')
    .select(['description', 'notification_emails', 'scheduled', 'checkpoint', 'copy_job_id'])
    .where('id', '=', backupId)
    .where('install_id', '=', installId)
    .where('deleting', '=', false)
    .executeTakeFirst();
}

const SEEN = [
  'id',
  'status',
  'description',
  'created_at',
  'finished_at',
  'wordpress_version',
  'scheduled',
  'checkpoint',
  'bytes',
  'verified_at',
  'missing_since',
] as const;

/** The backups of an install, oldest first. */
export async function pageOfSeenBackups(
  queries: Queries,
  installId: string,
  page: PageRequest,
): Promise<PageOf<SeenBackup>> {
  const mine = queries
    .selectFrom('backups')
    .where('install_id', '=', installId)
    .where('deleting', '=', false);
  const [{ count }, results] = await Promise.all([
    mine.select((eb) => eb.fn.countAll<number>().as('count')).executeTakeFirstOrThrow(),
    mine.select(SEEN).orderBy('seq').limit(page.limit).offset(page.offset).execute(),
  ]);
  return { count, results };
}

/** The backups of an install, newest first. */
export async function pageOfBackups(
  queries: Queries,
  installId: string,
  page: PageRequest,
): Promise<PageOf<ListedBackup>> {
  const mine = queries
    .selectFrom('backups')
    .where('install_id', '=', installId)
    .where('deleting', '=', false);
  const [{ count }, results] = await Promise.all([
    mine.select((eb) => eb.fn.countAll<number>().as('count')).executeTakeFirstOrThrow(),
    mine
      .select([
        'id',
        'description',
        'status',
        'bytes',
        'files',
        'reason',
        'scheduled',
        'checkpoint',
        'copy_job_id',
        'created_at',
        'finished_at',
        'verified_at',
        'missing_since',
      ])
      .orderBy('seq', 'desc')
      .limit(page.limit)
      .offset(page.offset)
      .execute(),
  ]);
  return { count, results };
}

/** Counts the unfinished backups of an install. */
export async function countUnfinished(queries: Queries, installId: string): Promise<number> {
  const { count } = await queries
    .selectFrom('backups')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('install_id', '=', installId)
    .where('status', 'in', UNFINISHED)
    .executeTakeFirstOrThrow();
  return count;
}

const details = (queries: Queries) =>
  queries
    .selectFrom('backups as backup')
    .innerJoin('installs as install', 'install.id', 'backup.install_id')
    .where('backup.deleting', '=', false)
    .select([
      'backup.id',
      'backup.status',
      'backup.install_id',
      'install.name as install_name',
      'backup.description',
      'backup.bytes',
      'backup.reason',
      'backup.scheduled',
      'backup.copy_job_id',
      'backup.missing_since',
      'backup.created_at',
    ]);

export function findBackupDetails(queries: Queries, backupId: string): Promise<BackupDetails | undefined> {
  return details(queries).where('backup.id', '=', backupId).executeTakeFirst();
}

/** The backups of one install or of all, newest first. */
export function allBackups(queries: Queries, installId?: string): Promise<BackupDetails[]> {
  const all = details(queries);
  return (installId === undefined ? all : all.where('install.id', '=', installId))
    .orderBy('backup.seq', 'desc')
    .execute();
}

/** The facts in a mail about a backup. */
export function findFinishedBackup(queries: Queries, backupId: string) {
  return queries
    .selectFrom('backups as backup')
    .innerJoin('installs as install', 'install.id', 'backup.install_id')
    .select([
      'backup.id',
      'install.name as install_name',
      'backup.description',
      'backup.status',
      'backup.bytes',
      'backup.files',
      'backup.reason',
      'backup.finished_at',
    ])
    .where('backup.id', '=', backupId)
    .executeTakeFirst();
}

/** Whether an install has a backup to restore. */
export async function hasCompletedBackup(queries: Queries, installId: string): Promise<boolean> {
  const backup = await queries
    .selectFrom('backups')
    .select('id')
    .where('install_id', '=', installId)
    .where('status', '=', 'completed')
    .limit(1)
    .executeTakeFirst();
  return backup !== undefined;
}

/** Changes the status of a backup, if it is `from`. */
export async function setBackupStatus(
  queries: Queries,
  backupId: string,
  { from, to }: { from: BackupStatus; to: BackupStatus },
): Promise<void> {
  await queries
    .updateTable('backups')
    .set({ status: to })
    .where('id', '=', backupId)
    .where('status', '=', from)
    .execute();
}

/** The result of a backup. */
export type BackupOutcome =
  | {
      status: 'completed';
      bytes: number;
      files: number;
      sha256: string;
      reason: null;
      verified_at: string;
      wordpress_version: string | null;
    }
  | { status: 'aborted'; reason: string };

/** Marks a backup as being deleted. */
export async function markDeleting(queries: Queries, backupId: string): Promise<void> {
  await queries.updateTable('backups').set({ deleting: true }).where('id', '=', backupId).execute();
}

/** Notes that a backup was read or restored without a fault. */
export async function noteVerified(queries: Queries, backupId: string, at: string): Promise<void> {
  await queries.updateTable('backups').set({ verified_at: at }).where('id', '=', backupId).execute();
}

/** Finishes a backup. Returns its notification facts; undefined if it has been deleted. */
export function finishBackup(
  queries: Queries,
  backupId: string,
  outcome: BackupOutcome & { finished_at: string },
) {
  return queries
    .updateTable('backups')
    .set(outcome)
    .where('id', '=', backupId)
    .returning(['notification_emails', 'scheduled', 'install_id'])
    .executeTakeFirst();
}

/** An install in any state, as a restore target. */
export function findRestoreTarget(queries: Queries, installId: string) {
  return queries
    .selectFrom('installs')
    .select(['name', 'account_id', 'status', 'runtime'])
    .where('id', '=', installId)
    .executeTakeFirst();
}

/** The addresses that belong to members of the install's account with an accepted invitation. */
export async function emailKeysOfMembers(
  queries: Queries,
  installId: string,
  emailKeys: readonly string[],
): Promise<string[]> {
  const members = await queries
    .selectFrom('installs as install')
    .innerJoin('memberships as member', 'member.account_id', 'install.account_id')
    .innerJoin('users as person', 'person.id', 'member.user_id')
    .select('person.email_key')
    .where('install.id', '=', installId)
    .where('member.invite_accepted', '=', true)
    .where('person.email_key', 'in', emailKeys)
    .execute();
  return members.map(({ email_key }) => email_key);
}
