import Type from 'typebox';
import type { JobType } from '../../../jobs/job.ts';
import { filestoreSettingsSchema } from './schema.ts';

const offloadPayload = Type.Object({ install_id: Type.String(), settings: filestoreSettingsSchema });

/**
 * Reads the validation file back from the bucket that was asked for, and only then puts the settings in force. What the
 * storage answers is final; the tries are for failures of our own.
 */
export const configureOffload: JobType<typeof offloadPayload> = {
  name: 'configure_offload',
  payload: offloadPayload,
  maxAttempts: 4,
  timeoutMs: 120_000,
};
