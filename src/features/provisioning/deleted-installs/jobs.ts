import Type from 'typebox';
import type { JobType } from '../../../jobs/job.ts';
import { HOUR_MS, MINUTE_MS } from '../../../lib/durations.ts';

const payload = Type.Object({
  id: Type.String(),
  name: Type.String(),
  host_id: Type.Union([Type.String(), Type.Null()]),
});

/** Stops serving the website of a deleted install. Its last backup follows. */
export const retireInstall: JobType<typeof payload> = {
  name: 'retire_install',
  payload,
  maxAttempts: 25,
  timeoutMs: 5 * MINUTE_MS,
  // No other job would stop it.
  patienceMs: Number.POSITIVE_INFINITY,
};

const lastBackup = Type.Object({ id: Type.String(), name: Type.String(), backup_id: Type.String() });

/** Makes the last backup of a deleted install; then its website is removed. */
export const backUpLast: JobType<typeof lastBackup> = {
  name: 'back_up_last',
  class: 'long',
  payload: lastBackup,
  maxAttempts: 3,
  timeoutMs: 6 * HOUR_MS,
  patienceMs: Number.POSITIVE_INFINITY,
};

const nothing = Type.Object({});

/** Enqueues the deletion of the backups of deleted installs that are due. */
export const expireDeleted: JobType<typeof nothing> = {
  name: 'expire_deleted_installs',
  payload: nothing,
  maxAttempts: 3,
  timeoutMs: MINUTE_MS,
};

/** Deletes the backups of a deleted install for good. */
export const removeKeptBackups: JobType<typeof payload> = {
  name: 'remove_kept_backups',
  class: 'long',
  payload,
  maxAttempts: 10,
  timeoutMs: HOUR_MS,
};
