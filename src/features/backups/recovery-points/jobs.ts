import Type from 'typebox';
import type { JobType } from '../../../jobs/job.ts';
import { HOUR_MS, MINUTE_MS } from '../../../lib/durations.ts';

const nothing = Type.Object({});

/** Looks at the installs that are due, and requests recovery points of those that changed. */
export const scheduleRecoveryPoints: JobType<typeof nothing> = {
  name: 'schedule_recovery_points',
  payload: nothing,
  maxAttempts: 1,
  timeoutMs: 10 * MINUTE_MS,
  isForgotten: true,
};

const pointPayload = Type.Object({ install_id: Type.String(), point_id: Type.String() });

/** Makes a recovery point. A failed one is not repeated: the next look at the install requests another. */
export const recordRecoveryPoint: JobType<typeof pointPayload> = {
  name: 'record_recovery_point',
  class: 'long',
  payload: pointPayload,
  maxAttempts: 1,
  timeoutMs: 6 * HOUR_MS,
  // It would block other work on the install.
  patienceMs: 0,
  isForgotten: true,
};
