import Type, { type Static } from 'typebox';
import type { JobType } from '../../../jobs/job.ts';
import { HOUR_MS, MINUTE_MS } from '../../../lib/durations.ts';

const installPayload = Type.Object({ id: Type.String() });
/** A change of the main domain, which is taken back if it fails. The ids of the domains; `from` is null if there was none. */
export const primaryChangeSchema = Type.Object({
  from: Type.Union([Type.String(), Type.Null()]),
  to: Type.String(),
});
export type PrimaryChange = Static<typeof primaryChangeSchema>;
const changePayload = Type.Object({
  id: Type.String(),
  primary: Type.Optional(primaryChangeSchema),
  /** The operator wants an empty website if the host has nothing of this one. */
  from_scratch: Type.Optional(Type.Boolean()),
});
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
export const applyInstall: JobType<typeof changePayload> = {
  name: 'apply_install',
  operation: 'install.apply',
  payload: changePayload,
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
export const replaceUrls: JobType<typeof changePayload> = {
  name: 'replace_urls',
  class: 'long',
  payload: changePayload,
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
