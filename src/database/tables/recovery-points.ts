import type { Generated } from 'kysely';

/** A snapshot of a website between its daily backups. It is in the backup repository of the install, under its id. */
export interface RecoveryPointRow {
  seq: Generated<number>;
  id: string;
  install_id: string;
  /** The snapshot has every change from before this time. */
  taken_at: string;
  /** As those of a backup. */
  bytes: number;
  files: number;
  sha256: string;
  wordpress_version: string | null;
  /** The host is to delete its snapshot. Nothing shows or uses it any more. */
  deleting: Generated<boolean>;
}

/** How far an install is covered by recovery points. */
export interface RecoveryStateRow {
  install_id: string;
  /** Words of the host, by which it tells whether the website changed since its newest recovery point; null without one. */
  mark: string | null;
  /** The newest recovery point has every change from before this time; null without one. */
  covered_at: string | null;
  /** When a recovery point was last begun. */
  tried_at: string;
  /** When data that no snapshot uses was last deleted from the repository. */
  pruned_at: string;
  /** Why the last try failed, one sentence; null if it succeeded. */
  reason: string | null;
}
