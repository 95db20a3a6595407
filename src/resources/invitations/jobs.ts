import Type from 'typebox';
import type { JobType } from '../../jobs/job.ts';

const invitationPayload = Type.Object({ account_id: Type.String(), user_id: Type.String() });

/**
 * Mails an invitation. The token is made when the mail is, so that it never stands in a job's payload.
 */
export const sendInvitation: JobType<typeof invitationPayload> = {
  name: 'send_invitation',
  payload: invitationPayload,
  maxAttempts: 10,
  timeoutMs: 60_000,
};
