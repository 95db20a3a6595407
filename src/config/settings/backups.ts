import { optional, setting } from './setting.ts';
import { anyText, s3Credentials, timeOfDay, trueOrFalse, wholeNumber } from './setting-values.ts';

/** Where backups go and how long they are kept: those of installs on a Linux host, and those of the platform itself. */
export const BACKUP_SETTINGS = {
  backupRepository: optional(
    'HOMEPORT_BACKUP_REPOSITORY',
    '`backups` in the host folder',
    'Linux host: where backups go: a folder, or `s3:https://endpoint/bucket/prefix`',
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
    'Linux host: every install is backed up daily, and these backups are kept for so many days; 0: none are made',
    wholeNumber(0, 3650),
  ),
  platformBackup: optional(
    'HOMEPORT_PLATFORM_BACKUP',
    'none: no daily backup',
    'where the daily backup of the platform goes: a folder, or `s3:https://endpoint/bucket/prefix` (`?region=…` if it is not us-east-1)',
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
    'when the daily backup of the platform begins, UTC',
    timeOfDay,
  ),
  platformBackupKeep: setting(
    'HOMEPORT_PLATFORM_BACKUP_KEEP',
    '14',
    'how many platform backups are kept; after each daily one, older ones are deleted',
    wholeNumber(1, 10_000),
  ),
  platformBackupSealingKey: setting(
    'HOMEPORT_PLATFORM_BACKUP_SEALING_KEY',
    'false',
    '`true`: the daily backup holds the sealing key, too; anyone who can read the backup can then read the private keys in it',
    trueOrFalse,
  ),
};
