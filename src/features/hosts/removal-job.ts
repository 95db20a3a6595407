import Type from 'typebox';
import type { JobType } from '../../jobs/job.ts';

const removalPayload = Type.Object({
  id: Type.String(),
  name: Type.String(),
  /** The machine that it was on, where its row is gone; null if it was on none. */
  host_id: Type.Optional(Type.Union([Type.String(), Type.Null()])),
});

/** Takes away the website of an install that is deleted, or whose provisioning gave up. */
export const removeInstall: JobType<typeof removalPayload> = {
  name: 'remove_install',
  payload: removalPayload,
  maxAttempts: 25,
  timeoutMs: 300_000,
  // Nobody else would take away what is left there.
  patienceMs: Number.POSITIVE_INFINITY,
};
