import Type from 'typebox';
import type { JobType } from '../../jobs/job.ts';

const backupPayload = Type.Object({ backup_id: Type.String(), install_id: Type.String() });

/** Makes the snapshot of a requested backup, verified, and tells those who asked to be told. */
export const createBackup: JobType<typeof backupPayload> = {
  name: 'create_backup',
  payload: backupPayload,
  maxAttempts: 3,
  timeoutMs: 6 * 60 * 60 * 1000,
};

/** Puts the files of an install back as a backup has them. */
export const restoreBackup: JobType<typeof backupPayload> = {
  name: 'restore_backup',
  payload: backupPayload,
  maxAttempts: 3,
  timeoutMs: 6 * 60 * 60 * 1000,
};

/** Mails one address of `notification_emails`; a job for each, so that one bad address holds up no other. */
const notificationPayload = Type.Object({ backup_id: Type.String(), address: Type.String() });

export const notifyOfBackup: JobType<typeof notificationPayload> = {
  name: 'notify_of_backup',
  payload: notificationPayload,
  maxAttempts: 10,
  timeoutMs: 60_000,
};
