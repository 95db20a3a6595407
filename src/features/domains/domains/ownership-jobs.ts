import Type, { type Static } from 'typebox';
import type { JobType } from '../../../jobs/job.ts';
import { MINUTE_MS } from '../../../lib/durations.ts';

const nothing = Type.Object({});

/** Looks up the TXT records of unverified domains. */
export const checkVerifications: JobType<typeof nothing> = {
  name: 'look_for_proofs',
  payload: nothing,
  // The next minute's job checks what this one missed.
  maxAttempts: 1,
  timeoutMs: 5 * MINUTE_MS,
};

const lostPayload = Type.Object({
  to: Type.String(),
  first_name: Type.String(),
  account: Type.String(),
  install: Type.String(),
  install_id: Type.String(),
  name: Type.String(),
});
export type LostName = Static<typeof lostPayload>;

/** Notifies an owner by email that another account verified a domain, so their install no longer serves the name. */
export const notifyNameLost: JobType<typeof lostPayload> = {
  name: 'tell_name_lost',
  payload: lostPayload,
  maxAttempts: 10,
  timeoutMs: 60_000,
};
