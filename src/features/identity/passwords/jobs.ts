import Type from 'typebox';
import type { JobType } from '../../../jobs/job.ts';

const resetPayload = Type.Object({ email_key: Type.String() });

/**
 * Mails a link to set a new password to whoever has the address, if anybody. The token is made when the mail is, so that it never
 * stands in a job's payload.
 */
export const sendPasswordReset: JobType<typeof resetPayload> = {
  name: 'send_password_reset',
  payload: resetPayload,
  maxAttempts: 10,
  timeoutMs: 60_000,
};
