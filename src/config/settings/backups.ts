import { optional, setting } from './setting.ts';
import { anyText, s3Credentials, timeOfDay, trueOrFalse, wholeNumber } from './setting-values.ts';

/** Destination and retention of backups: of installs on a Linux host, and of the platform. */
export const BACKUP_SETTINGS = {
  backupRepository: optional(
    'HOMEPORT_BACKUP_REPOSITORY',
    '`backups` in the host folder',
    'Linux host: destination of backups, a folder or `s3:https://endpoint/bucket/prefix`',
    anyText,
  ),
  backupCredentials: optional(
    'HOMEPORT_BACKUP_CREDENTIALS',
    'none',
    'Linux host: `access key id:secret access key` for backups in S3',
    s3Credentials,
  ),
  backupDays: setting(
    'HOMEPORT_BACKUP_DAYS',
    '14',
    'Linux host: retention of the daily backups of installs, in days; 0: no daily backups',
    wholeNumber(0, 3650),
  ),
  recoveryPointMinutes: setting(
    'HOMEPORT_RECOVERY_POINT_MINUTES',
    '0',
    'Linux host: minutes between two recovery points of an install that changes, which is what a lost machine costs at most; 0: none',
    wholeNumber(0, 1440),
  ),
  deletedDays: setting(
    'HOMEPORT_DELETED_DAYS',
    '14',
    'days for which a deleted install can be restored from its backups; 0: they are deleted with it',
    wholeNumber(0, 3650),
  ),
  platformBackup: optional(
    'HOMEPORT_PLATFORM_BACKUP',
    'none: no daily backup',
    'destination of the platform’s daily backup, a folder or `s3:https://endpoint/bucket/prefix` (`?region=…` if it is not us-east-1)',
    anyText,
  ),
  platformBackupCredentials: optional(
    'HOMEPORT_PLATFORM_BACKUP_CREDENTIALS',
    'none',
    '`access key id:secret access key` for platform backups in S3',
    s3Credentials,
  ),
  platformBackupAt: setting(
    'HOMEPORT_PLATFORM_BACKUP_AT',
    '02:30',
    'start of the platform’s daily backup, UTC',
    timeOfDay,
  ),
  platformBackupKeep: setting(
    'HOMEPORT_PLATFORM_BACKUP_KEEP',
    '14',
    'number of platform backups to keep; each daily backup deletes older ones',
    wholeNumber(1, 10_000),
  ),
  platformBackupSealingKey: setting(
    'HOMEPORT_PLATFORM_BACKUP_SEALING_KEY',
    'false',
    '`true`: the daily backup includes the sealing key; anyone who can read the backup can then read the private keys in it',
    trueOrFalse,
  ),
};
