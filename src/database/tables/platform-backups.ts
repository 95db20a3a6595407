import type { Generated } from 'kysely';

/** One attempt to back up the platform itself. */
export interface PlatformBackupRow {
  seq: Generated<number>;
  name: string;
  /** Without secrets. */
  destination: string;
  started_at: string;
  /** Null while it runs, and if its process was killed. */
  finished_at: string | null;
  bytes: number | null;
  /** Websites whose files could not be read. */
  missing_websites: Generated<number>;
  /** Why it failed, one line; null if it did not. */
  error: string | null;
}
