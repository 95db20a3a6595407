import { anyText, s3Credentials, wholeNumber } from '../setting-values.ts';
import { optional, setting } from './setting.ts';

/** Where a Linux host keeps backups, and how long the daily ones. */
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
};
