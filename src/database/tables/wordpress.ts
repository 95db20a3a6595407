import type { NullableJson } from './json.ts';

/** The last reading of an install's WordPress. */
export interface WordPressReadingRow {
  install_id: string;
  /** The last reading; null before the first. */
  reading: NullableJson;
  /** Of the reading, for lists. */
  core_version: string | null;
  core_update: string | null;
  plugin_updates: number;
  theme_updates: number;
  read_at: string | null;
  /** When WordPress last learnt of updates of every kind. */
  updates_checked_at: string | null;
  /** Why it could not ask last time. */
  updates_error: string | null;
  health_examined_at: string | null;
  /** Why the last attempt failed; null if it did not. */
  error: string | null;
  tried_at: string | null;
  /** The website's mark at the last attempt. */
  mark: string | null;
  /** When it is read next, with a check for updates. */
  due_at: string;
}
