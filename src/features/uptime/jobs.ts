import Type from 'typebox';
import type { JobType } from '../../jobs/job.ts';
import { MINUTE_MS } from '../../lib/durations.ts';

const nothing = Type.Object({});

/** Asks the home pages of the websites that visitors have. */
export const watchWebsites: JobType<typeof nothing> = {
  name: 'watch_websites',
  payload: nothing,
  // The next minute's job checks again.
  maxAttempts: 1,
  timeoutMs: 2 * MINUTE_MS,
};
