import type { Queries } from '../../database/database.ts';
import type { CoreRolloutRow } from '../../database/tables/wordpress-updates.ts';
import { timestamp } from '../../lib/clock.ts';
import { DAY_MS } from '../../lib/durations.ts';
import { InvalidRequest } from '../../lib/failures.ts';
import type { Platform } from '../../platform/platform.ts';
import { allRollouts, resumeRollout } from './rollout-store.ts';
import { type CoreAttempt, coreAttempts } from './schedule-store.ts';
import type { RolloutCounts } from './waves.ts';

/** A failure that is not the fault of the release, such as a full disk at the checkpoint, is tried again after so long. */
const AGAIN_MS = DAY_MS;
const AGAIN: readonly CoreAttempt['status'][] = ['failed', 'cancelled', 'unnecessary'];

/** A rollout as the operator sees it. */
export type SeenRollout = CoreRolloutRow & Omit<RolloutCounts, 'waiting'>;

/** Counts the scheduled updates of a rollout that ended since its start, or since it was resumed, and those in progress. */
export function countAttempts(
  attempts: readonly CoreAttempt[],
  { resumed_at }: Pick<CoreRolloutRow, 'resumed_at'>,
): Omit<RolloutCounts, 'waiting'> {
  const counted = attempts.filter(
    ({ cause, finished_at }) =>
      cause === 'schedule' && (resumed_at === null || finished_at === null || finished_at >= resumed_at),
  );
  const count = (...statuses: CoreAttempt['status'][]) =>
    counted.filter(({ status }) => statuses.includes(status)).length;
  return {
    running: count('requested', 'running'),
    // The others, such as without a checkpoint, tell nothing about the release.
    failed: counted.filter(({ status, begun_at }) => status === 'failed' && begun_at !== null).length,
    // Not the unnecessary ones: they prove nothing about the release.
    succeeded: count('succeeded'),
    rolledBack: count('rolled_back'),
  };
}

/** The installs that the release was tried on already and is not tried on again now. */
export function triedInstalls(attempts: readonly CoreAttempt[], now: Date): Set<string> {
  const again = new Date(now.getTime() - AGAIN_MS).toISOString();
  const isLeft = ({ status, created_at, finished_at }: CoreAttempt) =>
    status === 'rolled_back' || (AGAIN.includes(status) && (finished_at ?? created_at) > again);
  return new Set(attempts.filter(isLeft).map(({ install_id }) => install_id));
}

/** For the command line: the rollouts of WordPress releases. */
export function createRollouts({ database, clock }: Pick<Platform, 'database' | 'clock'>) {
  return {
    list: (): Promise<SeenRollout[]> => seenRollouts(database.reader),

    /** Lets a stopped rollout continue, with one install first. Throws InvalidRequest. */
    async resume(version: string): Promise<void> {
      const isResumed = await database.write(({ queries }) =>
        resumeRollout(queries, version, timestamp(clock)),
      );
      if (!isResumed) {
        throw new InvalidRequest(
          `No rollout of WordPress ${version} is stopped; "homeport rollout list" shows them all.`,
        );
      }
    },
  };
}

export async function seenRollouts(queries: Queries): Promise<SeenRollout[]> {
  const seen: SeenRollout[] = [];
  for (const rollout of await allRollouts(queries)) {
    seen.push({ ...rollout, ...countAttempts(await coreAttempts(queries, rollout.version), rollout) });
  }
  return seen;
}
