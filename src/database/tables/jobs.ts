import type { Generated } from 'kysely';
import type { Json, NullableJson } from './json.ts';

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
  /** It runs before the jobs of its lane that are not. */
  ahead: Generated<boolean>;
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
  /** The code of that failure (jobs/failure-codes.ts). */
  reason_code: Generated<string | null>;
  /** Id of the API request that queued it. */
  request_id: string | null;
  /** The header `traceparent` of what that request causes; null without traces. */
  traceparent: Generated<string | null>;
  created_at: string;
  started_at: string | null;
  finished_at: string | null;
  /** When it began to change a website; only some kinds note it. */
  begun_at: Generated<string | null>;
}

export interface WorkerRow {
  id: string;
  /** Host name and process id, for the operator. */
  process: string;
  seen_at: string;
  /** It stops in order: its jobs are handed back, or end without an outcome if the time does not suffice. */
  stopping: Generated<boolean>;
}

/** A job that ran when the process of its worker died. */
export interface JobDeathRow {
  job_id: string;
  worker_id: string;
  /** The same for all jobs of the same work (jobs/deaths.ts). */
  work: string;
  /** Host name and process id. */
  process: string;
  /** When the attempt began. */
  started_at: string;
  /** When the death was noticed. */
  died_at: string;
}

/** A job that is not tried again because processes died while it ran. */
export interface SetAsideJobRow {
  job_id: string;
  work: string;
  set_aside_at: string;
  /** The same job can run again. Otherwise its work must be requested again. */
  is_repeatable: boolean;
}

/** One row for each claimed time slot of a schedule. */
export interface ScheduleRunRow {
  schedule: string;
  slot: string;
}

/** The view that users have of a job, or of several that follow each other. */
export interface OperationRow {
  seq: Generated<number>;
  /** The id of its first job. */
  id: string;
  kind: string;
  /** Its present job, whose state is its status. */
  job_id: string;
  account_id: string;
  /** The install, which may be deleted; null for operations on no single install. */
  install_id: string | null;
  install_name: string | null;
  progress_done: Generated<number | null>;
  progress_total: Generated<number | null>;
  progress_unit: Generated<'bytes' | 'files' | null>;
  progress_step: Generated<string | null>;
  result: NullableJson;
  /** Set if the job did its work, and the operation failed all the same. */
  error_code: Generated<string | null>;
  error_message: Generated<string | null>;
  /** Null while it waits or runs, and if it succeeded. Triggers keep it for lists. */
  outcome: Generated<'failed' | 'cancelled' | null>;
  created_at: string;
}
