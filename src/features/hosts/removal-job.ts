import Type from 'typebox';
import type { JobType } from '../../jobs/job.ts';

const removalPayload = Type.Object({
  id: Type.String(),
  name: Type.String(),
  /** The host of the deleted install; null if it was on none. */
  host_id: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  /** Whether its backups stay, for a restore. */
  keep_backups: Type.Optional(Type.Boolean()),
});

/** Removes the website of a deleted install, or what a failed provisioning left. */
export const removeInstall: JobType<typeof removalPayload> = {
  name: 'remove_install',
  payload: removalPayload,
  maxAttempts: 25,
  timeoutMs: 300_000,
  // No other job would remove the remains.
  patienceMs: Number.POSITIVE_INFINITY,
};
