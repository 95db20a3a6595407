import Type from 'typebox';
import type { JobType } from '../../jobs/job.ts';

const askPayload = Type.Object({ change_id: Type.String() });
const tellPayload = Type.Object({ first_name: Type.String(), from: Type.String() });

/** Asks the new address whether it is the person's. The token is made when the mail is, so that it stands in no job's payload. */
export const askNewAddress: JobType<typeof askPayload> = {
  name: 'ask_new_address',
  payload: askPayload,
  maxAttempts: 10,
  timeoutMs: 60_000,
};

/** Tells the old address that it is the person's no more. */
export const tellOldAddress: JobType<typeof tellPayload> = {
  name: 'tell_old_address',
  payload: tellPayload,
  maxAttempts: 10,
  timeoutMs: 60_000,
};
