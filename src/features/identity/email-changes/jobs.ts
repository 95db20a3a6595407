import Type from 'typebox';
import type { JobType } from '../../../jobs/job.ts';

const askPayload = Type.Object({ change_id: Type.String() });

/** Asks the new address whether it is the person's. The token is made when the mail is, so that it stands in no job's payload. */
export const askNewAddress: JobType<typeof askPayload> = {
  name: 'ask_new_address',
  payload: askPayload,
  maxAttempts: 10,
  timeoutMs: 60_000,
};
