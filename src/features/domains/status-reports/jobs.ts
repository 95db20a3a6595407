import Type from 'typebox';
import type { JobType } from '../../../jobs/job.ts';
import { MINUTE_MS } from '../../../lib/durations.ts';

const checkPayload = Type.Object({ report_id: Type.String() });

/** Fills a status report. */
export const checkDomain: JobType<typeof checkPayload> = {
  name: 'check_domain',
  operation: 'domain.check',
  payload: checkPayload,
  maxAttempts: 3,
  timeoutMs: 60_000,
};

const nothing = Type.Object({});

/** Checks whether the served domains that are due still lead here. */
export const monitorReachability: JobType<typeof nothing> = {
  name: 'look_at_domains',
  payload: nothing,
  // The next minute's job checks what this one missed.
  maxAttempts: 1,
  timeoutMs: 5 * MINUTE_MS,
};

/** Limit of parallel single reports per account, so that names that time out do not use all its slots. */
const LANES = 3;

/** Lane for reports of all domains of an install. They run one at a time, apart from single reports. */
export function laneOfAll(accountId: string): string {
  return `reports-${accountId}-all`;
}

/** Lane for single reports. A report waits for earlier reports of its install, but for no other work on it. */
export function laneOf(accountId: string, installId: string): string {
  return `reports-${accountId}-${Number.parseInt(installId.slice(0, 4), 16) % LANES}`;
}
