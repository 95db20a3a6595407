import Type from 'typebox';
import { CACHE_KINDS } from '../../../hosting/contract/host.ts';
import type { JobType } from '../../../jobs/job.ts';

/** Targets of a purge: one cache, or all of them. */
export const PURGE_TYPES = [...CACHE_KINDS, 'all'] as const;
export type PurgeType = (typeof PURGE_TYPES)[number];

const purgePayload = Type.Object({
  install_id: Type.String(),
  cache: Type.Enum([...PURGE_TYPES]),
  /** Of the cache `page`: only these pages. */
  paths: Type.Optional(Type.Array(Type.String())),
});

/** Empties one cache of one install, or all of its caches, or purges single pages. */
export const purgeCache: JobType<typeof purgePayload> = {
  name: 'purge_cache',
  operation: 'cache.purge',
  payload: purgePayload,
  maxAttempts: 5,
  timeoutMs: 60_000,
};
