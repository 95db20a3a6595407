import Type from 'typebox';
import type { JobType } from '../../../jobs/job.ts';
import { MINUTE_MS } from '../../../lib/durations.ts';

const nothing = Type.Object({});

/** Queues the emails that are due. */
export const mailNotifications: JobType<typeof nothing> = {
  name: 'mail_notifications',
  payload: nothing,
  maxAttempts: 3,
  timeoutMs: MINUTE_MS,
};

const mailPayload = Type.Object({
  user_id: Type.String(),
  notification_ids: Type.Array(Type.String()),
});

/** Emails a user what they have not read by then. */
export const sendNotifications: JobType<typeof mailPayload> = {
  name: 'send_notifications',
  payload: mailPayload,
  maxAttempts: 10,
  timeoutMs: MINUTE_MS,
};
