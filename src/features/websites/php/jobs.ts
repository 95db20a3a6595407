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

const restartPayload = Type.Object({ id: Type.String() });

/** Ends the processes of a website's PHP; the next requests start others. */
export const restartPhp: JobType<typeof restartPayload> = {
  name: 'restart_php',
  operation: 'install.restart_php',
  payload: restartPayload,
  maxAttempts: 3,
  timeoutMs: 2 * MINUTE_MS,
};

/** Changes the PHP limits of a website; a failure leaves it unchanged. */
export const updatePhpLimits: JobType<typeof payload> = {
  name: 'update_php_limits',
  operation: 'install.update_php_limits',
  payload,
  maxAttempts: 3,
  timeoutMs: 10 * MINUTE_MS,
};
