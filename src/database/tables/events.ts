import type { Generated } from 'kysely';
import type { Json, NullableJson } from './json.ts';

/** A change to an account, written by triggers in the transaction of the change (migration 0025). Rows are never changed. */
export interface EventRow {
  seq: Generated<number>;
  id: string;
  /** The order in which readers see events; null until it is given, moments after the commit. */
  position: Generated<number | null>;
  /** `install.created`; the closed set is in features/accounts/events/event-types.ts. */
  type: string;
  account_id: string;
  install_id: string | null;
  /** The id of the thing that changed. */
  subject_id: string | null;
  /** An object of texts and numbers. */
  data: Json;
  created_at: string;
}

/** One row. */
export interface EventPositionRow {
  id: number;
  last: number;
}

export interface WebhookRow {
  seq: Generated<number>;
  id: string;
  account_id: string;
  url: string;
  description: string;
  /** Array of event types; null: all. */
  event_types: NullableJson;
  /** Array of installs; null: all of the account, and events without an install. */
  install_ids: NullableJson;
  enabled: Generated<boolean>;
  /** Why Homeport switched it off, one sentence; null if it is on, or if a user switched it off. */
  disabled_reason: Generated<string | null>;
  /** `whsec_…`, sealed (src/secrets/sealer.ts). */
  sealed_secret: string;
  /** The secret before, which signs too until `previous_until`. */
  previous_sealed_secret: Generated<string | null>;
  previous_until: Generated<string | null>;
  created_at: string;
  updated_at: string;
}

export type DeliveryState = 'pending' | 'succeeded' | 'failed';

/** An event to deliver to a webhook, with its last attempt. */
export interface WebhookDeliveryRow {
  seq: Generated<number>;
  id: string;
  webhook_id: string;
  event_seq: number;
  /** Deliveries of one lane are made one at a time and in order: those of an install, or of the account. */
  lane: string;
  /** Not retried: a test, or a redelivery. It has a lane of its own. */
  once: Generated<boolean>;
  state: Generated<DeliveryState>;
  attempts: Generated<number>;
  first_attempt_at: Generated<string | null>;
  last_attempt_at: Generated<string | null>;
  /** Set after a failed attempt that is retried. */
  next_attempt_at: Generated<string | null>;
  response_status: Generated<number | null>;
  /** The beginning of the answer. */
  response_body: Generated<string | null>;
  /** Why the last attempt failed, one sentence. */
  error: Generated<string | null>;
  duration_ms: Generated<number | null>;
  created_at: string;
}
