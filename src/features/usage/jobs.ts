import Type from 'typebox';
import type { JobType } from '../../jobs/job.ts';
import { HOUR_MS, MINUTE_MS } from '../../lib/durations.ts';

const nothing = Type.Object({});

/** Reads the traffic counts of every host. */
export const collectUsage: JobType<typeof nothing> = {
  name: 'collect_usage',
  payload: nothing,
  maxAttempts: 3,
  timeoutMs: 10 * MINUTE_MS,
};

/** Requests the daily measurement on every host. */
export const measureDaily: JobType<typeof nothing> = {
  name: 'measure_daily',
  payload: nothing,
  maxAttempts: 3,
  timeoutMs: MINUTE_MS,
};

/** Requests the hourly measurement, of websites that have used much of a limit. */
export const measureNearlyFull: JobType<typeof nothing> = { ...measureDaily, name: 'measure_nearly_full' };

const hostPayload = Type.Object({
  /** Null: the embedded host. */
  host_id: Type.Union([Type.String(), Type.Null()]),
  /** Only websites that have used much of a limit. Jobs of earlier versions have none. */
  nearly_full: Type.Optional(Type.Boolean()),
});

/** Measures the storage of the installs of one host that were not measured on this day, or within the hour, one after the other. */
export const measureHost: JobType<typeof hostPayload> = {
  name: 'measure_host',
  class: 'long',
  payload: hostPayload,
  maxAttempts: 5,
  timeoutMs: 6 * HOUR_MS,
};

const refreshPayload = Type.Object({ install_ids: Type.Array(Type.String()) });

/** Measures the storage of some installs, because a user asked. */
export const refreshStorage: JobType<typeof refreshPayload> = {
  name: 'refresh_storage',
  class: 'long',
  payload: refreshPayload,
  maxAttempts: 3,
  timeoutMs: 6 * HOUR_MS,
};

/** The lane of the refreshes that were requested for an account or an install. */
export const refreshLane = (id: string) => `storage:${id}`;
