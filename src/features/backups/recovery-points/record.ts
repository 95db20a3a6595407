import { defineJob, type JobKind } from '../../../jobs/job.ts';
import { timestamp } from '../../../lib/clock.ts';
import type { Platform } from '../../../platform/platform.ts';
import { permanently, postponing } from '../../hosts/host-failures.ts';
import { findPlacement } from '../../hosts/placement-store.ts';
import { findActiveInstall, lostDataOf } from '../../websites/installs/website-store.ts';
import { recordRecoveryPoint } from './jobs.ts';
import { baseOf, keptPoints, periodMs } from './rules.ts';
import { type MachineSource, requestPoints } from './schedule.ts';
import { changeStates, dailyBackupAt, insertPoint, pointsOf } from './store.ts';

/** The job that makes a recovery point, and deletes former ones. */
export function recordKind(platform: Platform, fleet: MachineSource): JobKind {
  const { config, database, clock } = platform;
  const period = periodMs(config.recoveryPointMinutes);
  return defineJob({
    ...recordRecoveryPoint,
    async run({ install_id, point_id }, { signal }) {
      const { reader } = database;
      const install = await findActiveInstall(reader, install_id);
      const hostId = (await findPlacement(reader, install_id))?.host_id ?? null;
      if (!install || hostId === null || (await lostDataOf(reader, install_id)) !== null) return;
      const points = await pointsOf(reader, install_id);
      const baseId = baseOf(points, clock.now());
      const kept = keptPoints(points, await dailyBackupAt(reader, install_id));
      if (baseId !== null) kept.add(baseId);
      const machine = await postponing(fleet.machine(hostId));
      const taken_at = timestamp(clock);
      const order = { pointId: point_id, baseId, keep: [...kept] };
      const made = await permanently(postponing(machine.recordPoint(install, order, signal)));
      return async (transaction) => {
        const { queries } = transaction;
        await insertPoint(
          queries,
          install_id,
          { id: point_id, base_id: made.baseId, taken_at, bytes: made.snapshot.bytes },
          order.keep,
        );
        await changeStates(queries, [install_id], {
          ...{ mark: made.mark, covered_at: taken_at, reason: null, due_at: timestamp(clock, period) },
        });
        await requestPoints(platform, transaction);
      };
    },
    // What is on the host of it goes with the next one.
    async giveUp({ install_id }, { reason }, { queries }) {
      await changeStates(queries, [install_id], { reason, mark: null, due_at: timestamp(clock, period) });
    },
  });
}
