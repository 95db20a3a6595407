import Type from 'typebox';
import type { JobType } from '../../jobs/job.ts';
import { DAY_MS, HOUR_MS } from '../../lib/durations.ts';

const nothing = Type.Object({});

const backupPayload = Type.Object({ backup_id: Type.String(), install_id: Type.String() });

/** Creates and verifies the snapshot of a requested backup, then notifies its addresses. */
export const createBackup: JobType<typeof backupPayload> = {
  name: 'create_backup',
  operation: 'backup.create',
  class: 'long',
  payload: backupPayload,
  maxAttempts: 3,
  timeoutMs: 6 * HOUR_MS,
};

/** The parts to replace; without these fields, everything. Addresses are notified at the end. */
const replacing = {
  files: Type.Optional(Type.Boolean()),
  /** Only these files and folders. */
  paths: Type.Optional(Type.Array(Type.String())),
  database: Type.Optional(Type.Boolean()),
  /** Only these tables of the database. */
  tables: Type.Optional(Type.Array(Type.String())),
  notify: Type.Optional(Type.Array(Type.String())),
};

const restorePayload = Type.Object({
  backup_id: Type.String(),
  /** The target install. */
  install_id: Type.String(),
  /** The install of the backup, if that is another. */
  from_id: Type.Optional(Type.String()),
  /** A backup of the target that is made before, and put back if the restore fails. */
  checkpoint_id: Type.Optional(Type.String()),
  ...replacing,
  /** A checkpoint is put back: chosen tables that it lacks were created since, and are dropped. */
  puts_back: Type.Optional(Type.Boolean()),
  /** A checkpoint is put back: the WordPress that the website had. */
  wordpress_version: Type.Optional(Type.String()),
});

/** Restores a backup into its install, or into another one. */
export const restoreBackup: JobType<typeof restorePayload> = {
  name: 'restore_backup',
  operation: 'backup.restore',
  class: 'long',
  payload: restorePayload,
  maxAttempts: 3,
  timeoutMs: 6 * HOUR_MS,
};

const adoptPayload = Type.Object({
  /** The backup that the copy becomes. */
  backup_id: Type.String(),
  install_id: Type.String(),
  /** Made before the restore. */
  checkpoint_id: Type.Optional(Type.String()),
  /** The install that the copy was made for. */
  website_id: Type.String(),
  /** The name of the platform backup. */
  platform_backup: Type.String(),
  /** JSON of the destination and its credentials, sealed. */
  sealed_place: Type.String(),
});

/** Makes a backup of an install from the copy of a website in a platform backup, then enqueues its restore. */
export const adoptWebsiteCopy: JobType<typeof adoptPayload> = {
  name: 'adopt_website_copy',
  operation: 'backup.restore',
  class: 'long',
  payload: adoptPayload,
  maxAttempts: 3,
  timeoutMs: 6 * HOUR_MS,
};

const copyPayload = Type.Object({
  backup_id: Type.String(),
  /** The target install. */
  install_id: Type.String(),
  /** The source install. */
  from_id: Type.String(),
  /** A backup of the target that is made before, and put back if the copy fails. */
  checkpoint_id: Type.Optional(Type.String()),
  ...replacing,
});

/**
 * Waits for the backup of the source install, then enqueues the copy. It runs in {@link copiesLane}: the backup may wait
 * long, and must not block other operations of the target.
 */
export const prepareCopy: JobType<typeof copyPayload> = {
  name: 'prepare_copy',
  operation: 'install.copy',
  payload: copyPayload,
  maxAttempts: 3,
  timeoutMs: 60_000,
  // After a day, a user no longer wants the website replaced.
  patienceMs: DAY_MS,
};

/** The lane of copies that wait for their backup. */
export const copiesLane = (installId: string) => `copies:${installId}`;

/** Copies an install into another, from a completed backup. */
export const copyInstall: JobType<typeof copyPayload> = {
  name: 'copy_install',
  class: 'long',
  payload: copyPayload,
  maxAttempts: 3,
  timeoutMs: 6 * HOUR_MS,
};

const importPayload = Type.Object({
  install_id: Type.String(),
  /** Absent in jobs of earlier versions. */
  import_id: Type.Optional(Type.String()),
  /** JSON of the source, sealed. */
  sealed_source: Type.String(),
  /** A backup of the install that is made before, and put back if the imported website does not answer. */
  checkpoint_id: Type.Optional(Type.String()),
  notify: Type.Optional(Type.Array(Type.String())),
});

/** Replaces the website of an install by an existing one from an archive. */
export const importWebsite: JobType<typeof importPayload> = {
  name: 'import_website',
  operation: 'install.import',
  class: 'long',
  payload: importPayload,
  maxAttempts: 3,
  timeoutMs: 6 * HOUR_MS,
};

const settlePayload = Type.Object({
  install_id: Type.String(),
  import_id: Type.String(),
  checkpoint_id: Type.String(),
});

/** Puts the checkpoint of a failed or cancelled import back, if the import had replaced the website. */
export const settleImport: JobType<typeof settlePayload> = {
  name: 'settle_import',
  class: 'long',
  payload: settlePayload,
  maxAttempts: 5,
  timeoutMs: HOUR_MS,
};

const changePayload = Type.Object({
  change_id: Type.String(),
  install_id: Type.String(),
  /** JSON of the change, sealed: the URL of a package can contain a signature. */
  sealed_change: Type.String(),
  /** A backup of the install that is made before, and restored if a page is worse after the change. */
  checkpoint_id: Type.Optional(Type.String()),
});

/** Installs, activates, deactivates or deletes a plugin or theme. */
export const changeWordPressItem: JobType<typeof changePayload> = {
  name: 'change_wordpress_item',
  operation: 'wordpress.change',
  class: 'long',
  payload: changePayload,
  maxAttempts: 5,
  timeoutMs: 6 * HOUR_MS,
  // A restore of the checkpoint loses what happened since.
  patienceMs: HOUR_MS,
};

/** Enqueues deletions that are due: spent backups, expired checkpoints and archives, and interrupted deletions. */
export const discardCopyBackups: JobType<typeof nothing> = {
  name: 'discard_spent_backups',
  payload: nothing,
  maxAttempts: 3,
  timeoutMs: 60_000,
};

/**
 * Deletes a backup: at a user's request, one made for a finished copy, or a daily one or checkpoint past its retention that is
 * not the last.
 */
export const discardBackup: JobType<typeof backupPayload> = {
  name: 'discard_backup',
  class: 'long',
  payload: backupPayload,
  maxAttempts: 5,
  timeoutMs: HOUR_MS,
};

/** Requests the daily backups that are due, within the limit on unfinished ones. */
export const backUpDaily: JobType<typeof nothing> = {
  name: 'back_up_daily',
  payload: nothing,
  maxAttempts: 3,
  timeoutMs: 60_000,
};

const hostPayload = Type.Object({
  /** Only installs of this host; null: those of the server's own process. Left out: all. */
  host_id: Type.Optional(Type.Union([Type.String(), Type.Null()])),
});

/** Compares the listed backups with those that the hosts hold. */
export const reconcileBackups: JobType<typeof hostPayload> = {
  name: 'reconcile_backups',
  class: 'long',
  payload: hostPayload,
  maxAttempts: 3,
  timeoutMs: 6 * HOUR_MS,
};

/** The lane of such jobs for one host. */
export const reconciliationLane = (hostId: string | null) =>
  `${reconcileBackups.name}:${hostId ?? 'embedded'}`;

/** Selects a backup for the next restore check. */
export const scheduleRestoreCheck: JobType<typeof nothing> = {
  name: 'sample_restore',
  payload: nothing,
  maxAttempts: 3,
  timeoutMs: 60_000,
};

const checkPayload = Type.Object({
  backup_id: Type.String(),
  install_id: Type.String(),
  /** The host of both installs; null on an embedded host. */
  host_id: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  /** The scratch install. All attempts share its id, so each removes the remains of the one before. */
  scratch_id: Type.String(),
});

/** Restores a backup into a scratch install, removes that, and records the result and the duration. */
export const checkRestore: JobType<typeof checkPayload> = {
  name: 'check_restore',
  class: 'long',
  payload: checkPayload,
  maxAttempts: 3,
  timeoutMs: 6 * HOUR_MS,
};

/** Notifies one address of `notification_emails`. Each has its own job, so a bad address delays no other. */
const notificationPayload = Type.Object({ backup_id: Type.String(), address: Type.String() });

export const notifyOfBackup: JobType<typeof notificationPayload> = {
  name: 'notify_of_backup',
  payload: notificationPayload,
  maxAttempts: 10,
  timeoutMs: 60_000,
};

const outcomePayload = Type.Object({
  /** The replaced install. */
  install_id: Type.String(),
  work: Type.Enum(['restore', 'copy', 'import']),
  /** Reason of the failure, one sentence; null if it succeeded. */
  reason: Type.Union([Type.String(), Type.Null()]),
  /** Faults of the website that replaced the former one. */
  warning: Type.Optional(Type.String()),
  finished_at: Type.String(),
  address: Type.String(),
});

/** Notifies one address that a restore or a copy has ended. */
export const notifyOfRestore: JobType<typeof outcomePayload> = {
  name: 'notify_of_restore',
  payload: outcomePayload,
  maxAttempts: 10,
  timeoutMs: 60_000,
};

const archivePayload = Type.Object({
  archive_id: Type.String(),
  backup_id: Type.String(),
  install_id: Type.String(),
});

/** Packs a backup for download, then notifies its addresses. */
export const createArchive: JobType<typeof archivePayload> = {
  name: 'create_archive',
  operation: 'archive.create',
  class: 'long',
  payload: archivePayload,
  maxAttempts: 3,
  timeoutMs: 6 * HOUR_MS,
};

/** The lane of an install's archives: packing must not block other operations of the install. */
export const archivesLane = (installId: string) => `archives:${installId}`;

const discardedArchive = Type.Object({ archive_id: Type.String(), install_id: Type.String() });

/** Deletes an expired archive. */
export const discardArchive: JobType<typeof discardedArchive> = {
  name: 'discard_archive',
  payload: discardedArchive,
  maxAttempts: 5,
  timeoutMs: 5 * 60_000,
};

const archiveNotice = Type.Object({ archive_id: Type.String(), address: Type.String() });

/** Notifies one address that an archive is ready, or could not be made. */
export const notifyOfArchive: JobType<typeof archiveNotice> = {
  name: 'notify_of_archive',
  payload: archiveNotice,
  maxAttempts: 10,
  timeoutMs: 60_000,
};
