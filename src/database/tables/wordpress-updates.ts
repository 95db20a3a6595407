import type { Generated } from 'kysely';
import type { Json, NullableJson } from './json.ts';

/** The decisions of an install's owner about automatic updates. Installs without a row have the defaults. */
export interface WordPressUpdatePolicyRow {
  install_id: string;
  core: 'none' | 'security' | 'minor' | 'all';
  plugins: 'none' | 'weekly' | 'daily';
  themes: 'none' | 'weekly' | 'daily';
  /** When updates may begin; JSON's null: at any time. */
  maintenance_window: NullableJson;
  /** Array of paths. */
  pages: Json;
  /** When the schedule last looked at plugins and at themes. */
  plugins_at: string | null;
  themes_at: string | null;
  updated_at: string;
}

export type WordPressUpdateStatus =
  | 'requested'
  | 'running'
  | 'succeeded'
  | 'unnecessary'
  | 'rolled_back'
  | 'failed'
  | 'cancelled';

/** An update of an install. */
export interface WordPressUpdateRow {
  seq: Generated<number>;
  id: string;
  install_id: string;
  cause: 'request' | 'schedule';
  status: WordPressUpdateStatus;
  /** The requested updates. */
  wanted: Json;
  /** The wanted version of WordPress; null: it stays. */
  core_to: string | null;
  /** Null until it is known that something can be updated. */
  checkpoint_id: string | null;
  /** Array of the updates that were made. */
  made: Json;
  /** The update that was rolled back, or null. */
  broken: NullableJson;
  /** Why it was rolled back or failed, one sentence. */
  reason: string | null;
  /** The code of that reason, for a repeated attempt. */
  reason_code: string | null;
  /** When the host began to change the website; null: nothing has changed. */
  begun_at: string | null;
  /** Whether the checkpoint was restored. */
  restored: boolean;
  created_at: string;
  finished_at: string | null;
}

/** The last time that a host fetched releases of WordPress. */
export interface ReleaseFetchRow {
  host_id: string;
  fetched_at: string;
  /** Why some could not be fetched; null if all could. */
  reason: string | null;
}

/** The rollout of a WordPress release to the installs whose policies want it. */
export interface CoreRolloutRow {
  version: string;
  /** When it stopped, because too many updates were rolled back or failed; null while it runs. */
  stopped_at: string | null;
  reason: string | null;
  /** When the operator let it continue. Earlier rollbacks and failures no longer count. */
  resumed_at: string | null;
  created_at: string;
}
