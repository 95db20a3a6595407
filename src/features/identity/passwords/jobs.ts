import Type from 'typebox';
import type { JobType } from '../../../jobs/job.ts';

const resetPayload = Type.Object({ email_key: Type.String() });

/**
 * Mails a reset link if a user has the address. The job generates the token, so that the stored payload
 * contains none.
 */
export const sendPasswordReset: JobType<typeof resetPayload> = {
  name: 'send_password_reset',
  payload: resetPayload,
  maxAttempts: 10,
  timeoutMs: 60_000,
};
