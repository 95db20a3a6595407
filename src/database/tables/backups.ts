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
  /** Made by the daily schedule, and deleted by it. */
  scheduled: Generated<boolean>;
  /** The job that copies it into another install, after which it is deleted; null of all that are kept. */
  copy_job_id: Generated<string | null>;
  created_at: string;
  finished_at: string | null;
}

/** Whether a backup could be restored, tried in a scratch install. */
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
