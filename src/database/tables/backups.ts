import type { Generated } from 'kysely';
import type { Json } from './json.ts';

export type BackupStatus = 'requested' | 'in_progress' | 'completed' | 'aborted';

export interface BackupRow {
  seq: Generated<number>;
  id: string;
  install_id: string;
  description: string;
  /** Array of addresses. */
  notification_emails: Json;
  status: BackupStatus;
  /** Size in bytes, number of files and SHA-256 of the archive; null until completed. */
  bytes: number | null;
  files: number | null;
  sha256: string | null;
  /** Why it was aborted, one sentence. */
  reason: string | null;
  requested_by: string | null;
  /** Created and deleted by the daily schedule. */
  scheduled: Generated<boolean>;
  /** The job that copies it into another install and then deletes it; null for kept backups. */
  copy_job_id: Generated<string | null>;
  /** Made before a restore, and put back if that fails. */
  checkpoint: Generated<boolean>;
  /** Its deletion was requested; nothing shows or uses it any more. */
  deleting: Generated<boolean>;
  /** The version of the website when it was made; null without WordPress and for backups before 0.3. */
  wordpress_version: Generated<string | null>;
  /** When what it stored was read back, or all of it was restored in a check; null until completed. */
  verified_at: Generated<string | null>;
  /** Since when its host does not hold it any more; null while it does. */
  missing_since: Generated<string | null>;
  created_at: string;
  finished_at: string | null;
}

/** A backup packed for download. */
export interface ArchiveRow {
  seq: Generated<number>;
  id: string;
  install_id: string;
  /** The backup may have been deleted since. */
  backup_id: string;
  /** Array of addresses. */
  notification_emails: Json;
  state: BackupStatus;
  /** Size and SHA-256 of the `.tar.gz`; null until completed. */
  bytes: number | null;
  sha256: string | null;
  /** Why it was aborted, one sentence. */
  reason: string | null;
  requested_by: string | null;
  created_at: string;
  started_at: string | null;
  finished_at: string | null;
  /** When it is deleted; null until it is completed or aborted. */
  expires_at: string | null;
}

/** The result of a test restore into a scratch install. */
export interface RestoreCheckRow {
  seq: Generated<number>;
  id: string;
  install_id: string;
  backup_id: string;
  took_ms: number;
  /** Why it could not, one sentence; null if it could. */
  reason: string | null;
  created_at: string;
}
