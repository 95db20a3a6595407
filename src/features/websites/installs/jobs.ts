import Type from 'typebox';
import type { JobType } from '../../../jobs/job.ts';
import { HOUR_MS, MINUTE_MS } from '../../../lib/durations.ts';

const installPayload = Type.Object({ id: Type.String() });
const switchPayload = Type.Object({ id: Type.String(), version: Type.String() });

/** Creates the website of a new install, which becomes `active` once its edge answers. */
export const provisionInstall: JobType<typeof installPayload> = {
  name: 'provision_install',
  operation: 'install.create',
  payload: installPayload,
  maxAttempts: 5,
  timeoutMs: 120_000,
  // A user waits for it.
  patienceMs: HOUR_MS,
};

/** Applies the desired state of a website: host names, redirects, certificates, offload. */
export const applyInstall: JobType<typeof installPayload> = {
  name: 'apply_install',
  operation: 'install.apply',
  payload: installPayload,
  maxAttempts: 12,
  timeoutMs: 120_000,
  isRepeatable: true,
};

/** Switches a website to another PHP version of its host; a failure leaves it unchanged. */
export const updatePhp: JobType<typeof switchPayload> = {
  name: 'update_php',
  operation: 'install.update_php',
  payload: switchPayload,
  maxAttempts: 3,
  timeoutMs: 10 * MINUTE_MS,
};

/** Replaces URLs with a former main name or scheme of a website in its database, after the change was applied. */
export const replaceUrls: JobType<typeof installPayload> = {
  name: 'replace_urls',
  class: 'long',
  payload: installPayload,
  maxAttempts: 3,
  timeoutMs: 40 * MINUTE_MS,
};

/** Switches a website to another WordPress version of its host; a failure leaves it unchanged. */
export const switchWordpress: JobType<typeof switchPayload> = {
  name: 'switch_wordpress',
  operation: 'wordpress.update',
  payload: switchPayload,
  maxAttempts: 3,
  timeoutMs: 10 * MINUTE_MS,
};
