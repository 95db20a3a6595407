import Type, { type Static } from 'typebox';
import type { JobType } from '../../../jobs/job.ts';
import { MINUTE_MS } from '../../../lib/durations.ts';

const nothing = Type.Object({});

/** Looks for the TXT records of domains that are not proved yet. */
export const checkVerifications: JobType<typeof nothing> = {
  name: 'look_for_proofs',
  payload: nothing,
  // A proof that is not looked for now is looked for in the next minute.
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

/** Mails an owner that another account proved a domain, so that their install no longer serves a name of it. */
export const notifyNameLost: JobType<typeof lostPayload> = {
  name: 'tell_name_lost',
  payload: lostPayload,
  maxAttempts: 10,
  timeoutMs: 60_000,
};
