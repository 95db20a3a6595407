import Type from 'typebox';
import type { JobType } from '../../jobs/job.ts';
import { HOUR_MS, MINUTE_MS } from '../../lib/durations.ts';

const planPayload = Type.Object({
  update_id: Type.String(),
  install_id: Type.String(),
  /** Whether updates stay after which pages only look different. */
  keep: Type.Optional(Type.Boolean()),
});

/** Looks up which of the wanted updates are available. Then requests a checkpoint and the updates themselves, unless there is nothing to do. */
export const planUpdate: JobType<typeof planPayload> = {
  name: 'plan_wordpress_update',
  operation: 'wordpress.update',
  payload: planPayload,
  maxAttempts: 3,
  timeoutMs: 5 * MINUTE_MS,
  patienceMs: HOUR_MS,
};

const updatePayload = Type.Object({
  update_id: Type.String(),
  install_id: Type.String(),
  checkpoint_id: Type.String(),
  updates: Type.Array(
    Type.Object({
      kind: Type.Union([Type.Literal('core'), Type.Literal('plugin'), Type.Literal('theme')]),
      id: Type.String(),
      name: Type.String(),
      from: Type.String(),
      to: Type.String(),
    }),
  ),
  keep: Type.Optional(Type.Boolean()),
});

/** Updates a website, checks it, and keeps the updates or restores the checkpoint. */
export const updateWebsite: JobType<typeof updatePayload> = {
  name: 'update_website',
  class: 'long',
  payload: updatePayload,
  maxAttempts: 5,
  timeoutMs: 6 * HOUR_MS,
  // A restore of the checkpoint loses what happened since.
  patienceMs: HOUR_MS,
};

const nothing = Type.Object({});

/** Lets the hosts fetch new releases of WordPress. */
export const fetchReleases: JobType<typeof nothing> = {
  name: 'fetch_wordpress_releases',
  class: 'long',
  payload: nothing,
  maxAttempts: 1,
  timeoutMs: 2 * HOUR_MS,
};

/** Requests the scheduled updates that are due. */
export const scheduleUpdates: JobType<typeof nothing> = {
  name: 'schedule_wordpress_updates',
  payload: nothing,
  maxAttempts: 3,
  timeoutMs: 5 * MINUTE_MS,
};
