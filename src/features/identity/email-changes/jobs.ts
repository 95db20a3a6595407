import Type from 'typebox';
import type { JobType } from '../../../jobs/job.ts';

const askPayload = Type.Object({ change_id: Type.String() });

/** Mails a confirmation link to the new address. The job generates the token, so that the stored payload contains none. */
export const askNewAddress: JobType<typeof askPayload> = {
  name: 'ask_new_address',
  payload: askPayload,
  maxAttempts: 10,
  timeoutMs: 60_000,
};
