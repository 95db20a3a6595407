import { type JobKind, switchedOff } from '../../../jobs/job.ts';
import type { Platform } from '../../../platform/platform.ts';
import { recordRecoveryPoint, scheduleRecoveryPoints } from './jobs.ts';
import { recordKind } from './record.ts';
import { areRecoveryPointsMade, type MachineSource, scheduleKind } from './schedule.ts';

/** The jobs of recovery points. `fleet`: left out without Linux hosts. */
export function recoveryPointKinds(platform: Platform, fleet: MachineSource | undefined): JobKind[] {
  if (fleet === undefined || !areRecoveryPointsMade(platform.config))
    return [switchedOff(scheduleRecoveryPoints), switchedOff(recordRecoveryPoint)];
  return [scheduleKind(platform, fleet), recordKind(platform, fleet)];
}
