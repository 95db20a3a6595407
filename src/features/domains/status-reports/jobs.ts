import Type from 'typebox';
import type { JobType } from '../../../jobs/job.ts';
import { MINUTE_MS } from '../../../lib/durations.ts';

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
export const monitorReachability: JobType<typeof nothing> = {
  name: 'look_at_domains',
  payload: nothing,
  // What is not looked at now is in the next minute.
  maxAttempts: 1,
  timeoutMs: 5 * MINUTE_MS,
};

/** At most this many single reports of one account run at once: names that are slow to fail must not take all its slots. */
const LANES = 3;

/** Reports of all domains of an install run one after the other, apart from the reports of single domains. */
export function laneOfAll(accountId: string): string {
  return `reports-${accountId}-all`;
}

/** A report waits for no work on its install, but for earlier reports of it. */
export function laneOf(accountId: string, installId: string): string {
  return `reports-${accountId}-${Number.parseInt(installId.slice(0, 4), 16) % LANES}`;
}
