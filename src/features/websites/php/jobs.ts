import Type from 'typebox';
import type { JobType } from '../../../jobs/job.ts';
import { MINUTE_MS } from '../../../lib/durations.ts';

const limit = Type.Optional(Type.Union([Type.Integer(), Type.Null()]));
/** Only what changes, so that changes that follow each other add up. */
const payload = Type.Object({
  id: Type.String(),
  change: Type.Object({
    memoryMb: limit,
    uploadMb: limit,
    seconds: limit,
    workers: limit,
    inputVars: limit,
  }),
});

/** Changes the PHP limits of a website; a failure leaves it unchanged. */
export const updatePhpLimits: JobType<typeof payload> = {
  name: 'update_php_limits',
  operation: 'install.update_php_limits',
  payload,
  maxAttempts: 3,
  timeoutMs: 10 * MINUTE_MS,
};
