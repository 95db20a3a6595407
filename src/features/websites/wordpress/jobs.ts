import Type from 'typebox';
import type { JobType } from '../../../jobs/job.ts';
import { HOUR_MS, MINUTE_MS } from '../../../lib/durations.ts';

const payload = Type.Object({
  install_id: Type.String(),
  /** Whether WordPress asks for updates and examines its health first. */
  check: Type.Boolean(),
});

/** Reads the WordPress of an install, because a user asked. */
export const refreshWordPress: JobType<typeof payload> = {
  name: 'refresh_wordpress',
  operation: 'wordpress.read',
  payload,
  maxAttempts: 2,
  timeoutMs: 5 * MINUTE_MS,
  patienceMs: HOUR_MS,
};

/** Reads the WordPress of an install, because it may have changed or a day has passed. */
export const readWordPress: JobType<typeof payload> = {
  name: 'read_wordpress',
  // No user waits for it, and a website with a hanging plugin takes minutes.
  class: 'long',
  payload,
  maxAttempts: 3,
  timeoutMs: 5 * MINUTE_MS,
};

const nothing = Type.Object({});

/** Finds the installs that are due for a reading, and requests it. */
export const watchWordPress: JobType<typeof nothing> = {
  name: 'watch_wordpress',
  payload: nothing,
  maxAttempts: 1,
  timeoutMs: 5 * MINUTE_MS,
};

/** The lane of the readings of an install that no user asked for. They do not wait for its other work, such as a backup. */
export const readingLane = (installId: string) => `wordpress:${installId}`;
