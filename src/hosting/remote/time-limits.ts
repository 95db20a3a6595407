import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../lib/durations.ts';
import { ANSWER_WITHIN_MS, type COMMANDS, POLL_MS } from './protocol.ts';

/**
 * How long a host may take for each command in all, in milliseconds. That it shows signs of life is not enough: one that
 * somebody has broken into could show them for ever, and hold up what waits for it.
 */
export type TimeLimits = Readonly<Record<keyof typeof COMMANDS, number>>;

/** For work of jobs at least as long as these may take; their own signals end it before. */
export const TIME_LIMITS: TimeLimits = {
  describe: 15 * SECOND_MS,
  publish: 15 * SECOND_MS,
  withdraw: 10 * SECOND_MS,
  purge: 30 * SECOND_MS,
  nextQuestion: POLL_MS + 10 * SECOND_MS,
  // Later than this nobody waits for it any more.
  answer: 2 * ANSWER_WITHIN_MS,
  // It looks at every install, and mends some.
  inspect: 10 * MINUTE_MS,
  heldInstalls: MINUTE_MS,
  belongTo: 15 * SECOND_MS,
  // The processes of a whole page of installs are ended.
  setAside: 10 * MINUTE_MS,
  addWordpress: 15 * MINUTE_MS,
  remove: 5 * MINUTE_MS,
  apply: 10 * MINUTE_MS,
  snapshot: 6 * HOUR_MS,
  restore: 6 * HOUR_MS,
  discardSnapshot: HOUR_MS,
};
