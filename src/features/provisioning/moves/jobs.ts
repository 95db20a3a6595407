import Type from 'typebox';
import type { JobType } from '../../../jobs/job.ts';
import { DAY_MS, HOUR_MS } from '../../../lib/durations.ts';

const movePayload = Type.Object({ move_id: Type.String() });

/** How long the former machine keeps its copy of a website that was moved. */
export const KEPT_MS = DAY_MS;

/** Moves an install to another machine. It runs in the lane of the install, so that other changes wait. */
export const moveInstall: JobType<typeof movePayload> = {
  name: 'move_install',
  operation: 'install.move',
  class: 'long',
  payload: movePayload,
  maxAttempts: 3,
  timeoutMs: 24 * HOUR_MS,
};

/** Removes what is left of an install on the machine that it is not on: after a move the former copy, after a failure the new one. */
export const clearMove: JobType<typeof movePayload> = {
  name: 'clear_move',
  payload: movePayload,
  maxAttempts: 25,
  timeoutMs: 10 * 60_000,
  // No other job would remove it.
  patienceMs: Number.POSITIVE_INFINITY,
};

/** The lane of the removal. The lane of the install would make other changes wait for a day. */
export const clearLane = (moveId: string) => `move:${moveId}`;
