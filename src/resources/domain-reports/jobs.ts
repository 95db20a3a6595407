import Type from 'typebox';
import type { JobType } from '../../jobs/job.ts';

const checkPayload = Type.Object({ report_id: Type.String() });

/** Fills a domain status report. */
export const checkDomain: JobType<typeof checkPayload> = {
  name: 'check_domain',
  payload: checkPayload,
  maxAttempts: 3,
  timeoutMs: 60_000,
};
