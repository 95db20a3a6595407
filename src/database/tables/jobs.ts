import type { Generated } from 'kysely';
import type { Json } from './json.ts';

export type JobState = 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled';

/** Short and long jobs have separate workers. */
export type JobClass = 'short' | 'long';

export interface JobRow {
  seq: Generated<number>;
  id: string;
  kind: string;
  /** Jobs of one lane run one at a time, in order of request; null: no lane. */
  lane: string | null;
  payload: Json;
  class: Generated<JobClass>;
  /** The share of the workers that it uses: an account's id, or `platform`. */
  share: Generated<string>;
  /** An earlier job of its lane was unfinished when this one was queued, and this one has not become the next since. */
  behind: Generated<boolean>;
  state: Generated<JobState>;
  /** The number of attempts started. */
  attempt: Generated<number>;
  max_attempts: number;
  /** Cancelled while running; set until its worker has ended it. */
  called_off: Generated<boolean>;
  run_at: string;
  lease_until: string | null;
  worker_id: string | null;
  /** The last failure, one line for the operator. */
  error: string | null;
  /** The last failure, one sentence for the customer. */
  reason: Generated<string | null>;
  /** Id of the API request that queued it. */
  request_id: string | null;
  created_at: string;
  started_at: string | null;
  finished_at: string | null;
}

export interface WorkerRow {
  id: string;
  /** Host name and process id, for the operator. */
  process: string;
  seen_at: string;
}

/** One row for each claimed time slot of a schedule. */
export interface ScheduleRunRow {
  schedule: string;
  slot: string;
}
