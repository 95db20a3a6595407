import type { Generated } from 'kysely';

/** A requested WP-CLI command. Arguments and outputs may contain passwords, so they are sealed and kept shortly. */
export interface WpCliRunRow {
  seq: Generated<number>;
  id: string;
  operation_id: string;
  install_id: string;
  /** JSON array; null once the command has begun, so that it never runs twice. */
  sealed_args: string | null;
  exit_status: number | null;
  /** JSON; null until the command has ended by itself. */
  sealed_output: string | null;
  created_at: string;
  /** When it ended, failed or was cancelled. */
  ended_at: string | null;
}
