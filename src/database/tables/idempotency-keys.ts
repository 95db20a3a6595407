/** A request with an Idempotency-Key and its answer (api/idempotency.ts). */
export interface IdempotencyKeyRow {
  /** The API credential, or the user of a portal session. */
  owner_id: string;
  key: string;
  /** Keyed hash of method, path and body. */
  fingerprint: string;
  /** Null: the answer is not known yet. 0: it was lost. */
  status: number | null;
  /** Location and body; null without either. */
  sealed_answer: string | null;
  created_at: string;
}
