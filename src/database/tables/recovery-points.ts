import type { Generated } from 'kysely';

/** A snapshot of a website between its daily backups. It is in the backup repository of the install, under its id. */
export interface RecoveryPointRow {
  seq: Generated<number>;
  id: string;
  install_id: string;
  /** The recovery point with the files that this one leaves out; null: it has all files. */
  base_id: string | null;
  /** The snapshot has every change from before this time. */
  taken_at: string;
  /** Size of what it has. */
  bytes: number;
}

/** How far an install is covered by recovery points. */
export interface RecoveryStateRow {
  install_id: string;
  /** The `seq` of the install. */
  install_seq: number;
  /** When the website is looked at next. */
  due_at: string;
  /** The host's note of the website at its newest recovery point; null if it changed since, or may have. */
  mark: string | null;
  /** The newest recovery point has every change from before this time; null without one. */
  covered_at: string | null;
  /** Why the last try failed, one sentence; null if it succeeded. */
  reason: string | null;
}
