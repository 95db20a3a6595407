import Type from 'typebox';
import type { JobType } from '../../jobs/job.ts';
import { DAY_MS, HOUR_MS } from '../../lib/durations.ts';

const nothing = Type.Object({});

const backupPayload = Type.Object({ backup_id: Type.String(), install_id: Type.String() });

/** Makes the snapshot of a requested backup, verified, and tells those who asked to be told. */
export const createBackup: JobType<typeof backupPayload> = {
  name: 'create_backup',
  class: 'long',
  payload: backupPayload,
  maxAttempts: 3,
  timeoutMs: 6 * HOUR_MS,
};

const restorePayload = Type.Object({
  backup_id: Type.String(),
  /** The install that is restored. */
  install_id: Type.String(),
  /** The install that the backup is of, where that is another. */
  from_id: Type.Optional(Type.String()),
});

/** Puts an install back as a backup has it, or makes it what a backup of another has. */
export const restoreBackup: JobType<typeof restorePayload> = {
  name: 'restore_backup',
  class: 'long',
  payload: restorePayload,
  maxAttempts: 3,
  timeoutMs: 6 * HOUR_MS,
};

const copyPayload = Type.Object({
  backup_id: Type.String(),
  /** The install that becomes what the other is. */
  install_id: Type.String(),
  /** The install that is copied. */
  from_id: Type.String(),
});

/**
 * Waits until the backup of the install that is copied is complete, and asks for the copy then. It stands in {@link copiesLane}, for
 * a backup may wait for long, and nothing else that is asked of the install that is to be replaced has to wait with it.
 */
export const prepareCopy: JobType<typeof copyPayload> = {
  name: 'prepare_copy',
  payload: copyPayload,
  maxAttempts: 3,
  timeoutMs: 60_000,
  // Whoever asked yesterday does not want the website of today replaced by that of tomorrow.
  patienceMs: DAY_MS,
};

/** The lane of what waits to be copied into an install. */
export const copiesLane = (installId: string) => `copies:${installId}`;

/** Makes an install what another one is, by a backup of that one that is complete. */
export const copyInstall: JobType<typeof copyPayload> = {
  name: 'copy_install',
  class: 'long',
  payload: copyPayload,
  maxAttempts: 3,
  timeoutMs: 6 * HOUR_MS,
};

/** Asks for the deletion of backups whose copy has ended without asking for it itself: called off, with the install that it was for. */
export const discardCopyBackups: JobType<typeof nothing> = {
  name: 'discard_spent_backups',
  payload: nothing,
  maxAttempts: 3,
  timeoutMs: 60_000,
};

/** Deletes a backup: one that was made for a copy that has ended, or a daily one that is older than they are kept and not the last that there is. */
export const discardBackup: JobType<typeof backupPayload> = {
  name: 'discard_backup',
  class: 'long',
  payload: backupPayload,
  maxAttempts: 5,
  timeoutMs: HOUR_MS,
};

/** Asks for the daily backups that are due, as many as can be made now. */
export const backUpDaily: JobType<typeof nothing> = {
  name: 'back_up_daily',
  payload: nothing,
  maxAttempts: 3,
  timeoutMs: 60_000,
};

/** Chooses a backup to be restored on trial. */
export const scheduleRestoreCheck: JobType<typeof nothing> = {
  name: 'sample_restore',
  payload: nothing,
  maxAttempts: 3,
  timeoutMs: 60_000,
};

const checkPayload = Type.Object({
  backup_id: Type.String(),
  install_id: Type.String(),
  /** The machine that both are on; null where there is one alone. */
  host_id: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  /** The scratch install; the same at every attempt, so that what one leaves behind the next takes away. */
  scratch_id: Type.String(),
});

/** Restores a backup into a scratch install, which is then removed, and writes down whether it could be and how long it took. */
export const checkRestore: JobType<typeof checkPayload> = {
  name: 'check_restore',
  class: 'long',
  payload: checkPayload,
  maxAttempts: 3,
  timeoutMs: 6 * HOUR_MS,
};

/** Mails one address of `notification_emails`; a job for each, so that one bad address holds up no other. */
const notificationPayload = Type.Object({ backup_id: Type.String(), address: Type.String() });

export const notifyOfBackup: JobType<typeof notificationPayload> = {
  name: 'notify_of_backup',
  payload: notificationPayload,
  maxAttempts: 10,
  timeoutMs: 60_000,
};
