import Type from 'typebox';
import type { JobType } from '../../../jobs/job.ts';
import { HOUR_MS, MINUTE_MS } from '../../../lib/durations.ts';

const installPayload = Type.Object({ id: Type.String() });

/** Makes the website of a new install; the install is `active` once its edge answers. */
export const provisionInstall: JobType<typeof installPayload> = {
  name: 'provision_install',
  payload: installPayload,
  maxAttempts: 5,
  timeoutMs: 120_000,
  // Somebody looks at it, waiting.
  patienceMs: HOUR_MS,
};

/** Brings a website to what the database says: host names, redirects, certificates, offload. */
export const applyInstall: JobType<typeof installPayload> = {
  name: 'apply_install',
  payload: installPayload,
  maxAttempts: 12,
  timeoutMs: 120_000,
};

const switchPayload = Type.Object({ id: Type.String(), version: Type.String() });

/** Puts a website on another version of WordPress that its host holds, and leaves it as it is if that fails. */
export const switchWordpress: JobType<typeof switchPayload> = {
  name: 'switch_wordpress',
  payload: switchPayload,
  maxAttempts: 3,
  timeoutMs: 10 * MINUTE_MS,
};
