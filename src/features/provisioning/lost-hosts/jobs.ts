import Type from 'typebox';
import type { JobType } from '../../../jobs/job.ts';
import { DAY_MS, HOUR_MS } from '../../../lib/durations.ts';

const rebuildPayload = Type.Object({
  rebuild_id: Type.String(),
  /** The ids of the hosts to choose from; left out for all. */
  hosts: Type.Optional(Type.Array(Type.String())),
});

/** Rebuilds an install of a lost host on another one from its newest backup. In the lane of the install, before what waits for the lost host. */
export const rebuildInstall: JobType<typeof rebuildPayload> = {
  name: 'rebuild_install',
  class: 'long',
  payload: rebuildPayload,
  maxAttempts: 3,
  timeoutMs: 24 * HOUR_MS,
  patienceMs: 7 * DAY_MS,
};
