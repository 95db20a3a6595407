import Type from 'typebox';
import type { JobType } from '../../../jobs/job.ts';
import { filestoreSettingsSchema } from './schema.ts';

const offloadPayload = Type.Object({ install_id: Type.String(), settings: filestoreSettingsSchema });

/**
 * Reads the validation file from the requested bucket, then activates the settings. An answer of the storage is final;
 * retries are for failures of this platform.
 */
export const configureOffload: JobType<typeof offloadPayload> = {
  name: 'configure_offload',
  operation: 'offload.configure',
  payload: offloadPayload,
  maxAttempts: 4,
  timeoutMs: 120_000,
};

const removalPayload = Type.Object({ install_id: Type.String() });

/** Switches offload off. It runs in the install's lane, so later settings follow it. */
export const removeOffload: JobType<typeof removalPayload> = {
  name: 'remove_offload',
  operation: 'offload.configure',
  payload: removalPayload,
  maxAttempts: 4,
  timeoutMs: 60_000,
};
