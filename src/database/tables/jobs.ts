import type { Generated } from 'kysely';
import type { Json } from './json.ts';

export type JobState = 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled';

/** Short jobs and long ones have workers of their own. */
export type JobClass = 'short' | 'long';

export interface JobRow {
  seq: Generated<number>;
  id: string;
  kind: string;
  /** Jobs of one lane run one at a time, in the order they were asked for; null: no lane. */
  lane: string | null;
  payload: Json;
  class: Generated<JobClass>;
  /** Whose share of the workers it uses: an account's id, or `platform`. */
  share: Generated<string>;
  /** An earlier job of its lane was unfinished when this one was queued, and none of its lane has made it the next one since. */
  behind: Generated<boolean>;
  state: Generated<JobState>;
  /** How often it was begun. */
  attempt: Generated<number>;
  max_attempts: number;
  /** Nobody wants it any more: of a running one, until its worker has ended it. */
  called_off: Generated<boolean>;
  run_at: string;
  lease_until: string | null;
  worker_id: string | null;
  /** The last failure, one line for the operator. */
  error: string | null;
  /** The same for the customer, one sentence. */
  reason: Generated<string | null>;
  /** The request that asked for it. */
  request_id: string | null;
  created_at: string;
  started_at: string | null;
  finished_at: string | null;
}

export interface WorkerRow {
  id: string;
  /** Host name and process id, for people. */
  process: string;
  seen_at: string;
}

/** One row for each time slot of a schedule that some process has taken on. */
export interface ScheduleRunRow {
  schedule: string;
  slot: string;
}
