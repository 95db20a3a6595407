import Type, { type Static } from 'typebox';
import type { Caller } from '../../../access/caller.ts';
import type { JobType } from '../../../jobs/job.ts';

const invitationPayload = Type.Object({
  account_id: Type.String(),
  user_id: Type.String(),
  /** Missing if the operator invited. */
  invited_by: Type.Optional(Type.String()),
});

/** Mails an invitation. The job generates the token, so that the stored payload contains none. */
export const sendInvitation: JobType<typeof invitationPayload> = {
  name: 'send_invitation',
  payload: invitationPayload,
  maxAttempts: 10,
  timeoutMs: 60_000,
};

/** The payload for inviting a user to an account. */
export function invitationBy(
  { userId: by, origin }: Pick<Caller, 'origin'> & { userId: string | null },
  accountId: string,
  userId: string,
): Static<typeof invitationPayload> {
  const isPerson = by !== null && origin.means !== 'command_line';
  return { account_id: accountId, user_id: userId, ...(isPerson ? { invited_by: by } : {}) };
}
