import Type from 'typebox';
import { CACHE_KINDS } from '../../../hosting/contract/host.ts';
import type { JobType } from '../../../jobs/job.ts';

const purgePayload = Type.Object({ install_id: Type.String(), cache: Type.Enum([...CACHE_KINDS]) });

/** Empties one cache of one install. */
export const purgeCache: JobType<typeof purgePayload> = {
  name: 'purge_cache',
  operation: 'cache.purge',
  payload: purgePayload,
  maxAttempts: 5,
  timeoutMs: 60_000,
};
