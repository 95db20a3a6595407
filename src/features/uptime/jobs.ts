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

/** Websites in a round. With more of them, each is asked every second minute, or third, and so on. */
export const MOST_A_ROUND = 5_000;
/** The most rounds between two checks in a row: one check in between may be missing. */
const LONGEST_GAP_ROUNDS = 2.5;

/** Minutes between two checks of the same website, by the number of websites. */
export const turnsOf = (websites: number): number => Math.max(1, Math.ceil(websites / MOST_A_ROUND));

/** Checks of a website that are further apart are not in a row. */
export const gapMsOf = (turns: number): number => LONGEST_GAP_ROUNDS * turns * MINUTE_MS;
