/** How far the rollout of a release is, since its start or since it was resumed. */
export interface RolloutCounts {
  /** Installs that want the release and can be updated. */
  waiting: number;
  running: number;
  succeeded: number;
  rolledBack: number;
  /** Updates that failed after the host began. */
  failed: number;
}

/** Part of all installs in the second wave. */
const SECOND_WAVE = 0.05;
/** A rollout stops if more than this part of the updates was rolled back or failed. */
const MOST_FAILED = 0.02;

/** Whether so many rollbacks and failures stop a rollout. */
export function isFailingTooOften({
  succeeded,
  rolledBack,
  failed,
}: Pick<RolloutCounts, 'succeeded' | 'rolledBack' | 'failed'>): boolean {
  return rolledBack + failed > (succeeded + rolledBack + failed) * MOST_FAILED;
}

/**
 * The number of updates that may begin now. The waves are one install, then 5 % of all, then the others. Each begins when the one before
 * has ended.
 */
export function roomInWave(counts: RolloutCounts): number {
  if (isFailingTooOften(counts)) return 0;
  const { waiting, running } = counts;
  const ended = counts.succeeded + counts.rolledBack + counts.failed;
  const total = waiting + running + ended;
  const second = 1 + Math.ceil(total * SECOND_WAVE);
  const end = ended < 1 ? 1 : ended < second ? second : total;
  return Math.max(0, Math.min(waiting, end - ended - running));
}
