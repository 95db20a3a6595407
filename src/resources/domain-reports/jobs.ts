import Type from 'typebox';
import { MINUTE_MS } from '../../durations.ts';
import type { JobType } from '../../jobs/job.ts';

const checkPayload = Type.Object({ report_id: Type.String() });

/** Fills a domain status report. */
export const checkDomain: JobType<typeof checkPayload> = {
  name: 'check_domain',
  payload: checkPayload,
  maxAttempts: 3,
  timeoutMs: 60_000,
};

const nothing = Type.Object({});

/** Looks where some of the served domains lead, and whose turn it is. */
export const lookAtDomains: JobType<typeof nothing> = {
  name: 'look_at_domains',
  payload: nothing,
  // What is not looked at now is in the next minute.
  maxAttempts: 1,
  timeoutMs: 5 * MINUTE_MS,
};

/** So many reports are under way at the same time: names that are slow to fail must not take all workers. */
const LANES = 3;

/** Those of all domains of an install, one after the other: many names at once hold up nobody who asks of one. */
export const LANE_OF_ALL = 'reports-all';

/** A report waits for no work on its install, but for earlier reports of it. */
export function laneOf(installId: string): string {
  return `reports-${Number.parseInt(installId.slice(0, 4), 16) % LANES}`;
}
