import type { Generated } from 'kysely';

/** Rows written by triggers, on SQLite only (change-feed.ts). */
export interface ChangeRow {
  seq: Generated<number>;
  topic: string;
  account_id: string;
  install_id: string | null;
  id: string | null;
  user_id: string | null;
}
