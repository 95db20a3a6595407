import Type, { type Static } from 'typebox';
import type { JobType } from '../../../jobs/job.ts';
import { MINUTE_MS } from '../../../lib/durations.ts';

const disabledPayload = Type.Object({
  /** Jobs of earlier versions have none. */
  user_id: Type.Optional(Type.String()),
  to: Type.String(),
  first_name: Type.String(),
  account_id: Type.String(),
  webhook_id: Type.String(),
  /** The name of the account. */
  account: Type.String(),
  /** The host of the receiver. The rest of the URL can be a secret. */
  host: Type.String(),
  reason: Type.String(),
});

/** Mails an owner that a webhook was switched off. */
export const sendWebhookDisabled: JobType<typeof disabledPayload> = {
  name: 'send_webhook_disabled',
  payload: disabledPayload,
  maxAttempts: 10,
  timeoutMs: 60_000,
};

const lanePayload = Type.Object({
  webhook_id: Type.String(),
  lane: Type.String(),
  account_id: Type.String(),
});

/** Sends the waiting deliveries of one lane of a webhook. */
export const deliverWebhook: JobType<typeof lanePayload> = {
  name: 'deliver_webhook',
  payload: lanePayload,
  maxAttempts: 20,
  timeoutMs: 2 * MINUTE_MS,
  isHarmless: true,
  isForgotten: true,
};

/** The job of a lane of a webhook. */
export function jobOfLane(payload: Static<typeof lanePayload>) {
  const { webhook_id, lane, account_id } = payload;
  return { payload, lane: `${deliverWebhook.name} ${webhook_id} ${lane}`, account: account_id };
}
