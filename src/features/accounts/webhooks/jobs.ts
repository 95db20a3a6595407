import Type from 'typebox';
import type { JobType } from '../../../jobs/job.ts';

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
