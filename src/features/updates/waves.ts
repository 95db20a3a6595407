/** How far the rollout of a release is, since its start or since it was resumed. */
export interface RolloutCounts {
  /** Installs that want the release and can be updated. */
  waiting: number;
  running: number;
  succeeded: number;
  rolledBack: number;
}

/** Part of all installs in the second wave. */
const SECOND_WAVE = 0.05;
/** A rollout stops if more than this part of the updates was rolled back. */
const MOST_ROLLED_BACK = 0.02;

/** Whether so many roll-backs stop a rollout. */
export function isTooOftenRolledBack({
  succeeded,
  rolledBack,
}: Pick<RolloutCounts, 'succeeded' | 'rolledBack'>): boolean {
  return rolledBack > (succeeded + rolledBack) * MOST_ROLLED_BACK;
}

/**
 * The number of updates that may begin now. The waves are one install, then 5 % of all, then the others. Each begins when the one before
 * has ended.
 */
export function roomInWave(counts: RolloutCounts): number {
  if (isTooOftenRolledBack(counts)) return 0;
  const { waiting, running } = counts;
  const ended = counts.succeeded + counts.rolledBack;
  const total = waiting + running + ended;
  const second = 1 + Math.ceil(total * SECOND_WAVE);
  const end = ended < 1 ? 1 : ended < second ? second : total;
  return Math.max(0, Math.min(waiting, end - ended - running));
}
