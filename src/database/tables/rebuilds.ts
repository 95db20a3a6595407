import type { Generated } from 'kysely';

/** The steps of a rebuild under way. An install has at most one such rebuild. */
export const OPEN_REBUILD = ['placing', 'restoring'] as const;

/**
 * - `placing`: the install is on the lost host, and a host with one of its backups is looked for.
 * - `restoring`: it is on the other host, and closed until its backup is restored.
 */
export type RebuildStep = (typeof OPEN_REBUILD)[number] | 'rebuilt' | 'failed';

/** The rebuild of an install of a lost host on another one. */
export interface RebuildRow {
  seq: Generated<number>;
  id: string;
  install_id: string;
  install_name: string;
  from_host: string;
  /** Null until one is chosen. */
  to_host: string | null;
  step: RebuildStep;
  job_id: string;
  /** The backup that is restored; null until one is found. */
  backup_id: string | null;
  /** When that was made. */
  backup_at: string | null;
  /** Why it failed, or why an older backup was restored. */
  reason: string | null;
  /** When the host was given up. */
  lost_at: string;
  requested_at: string;
  finished_at: string | null;
}
