import type { Transaction } from '../../../database/database.ts';
import { lockRow } from '../../../database/lock.ts';
import { defineJob, type JobKind } from '../../../jobs/job.ts';
import { timestamp } from '../../../lib/clock.ts';
import type { Platform } from '../../../platform/platform.ts';
import { permanently, postponing } from '../../hosts/host-failures.ts';
import { findPlacement } from '../../hosts/placement-store.ts';
import { findActiveInstall, lostDataOf } from '../../websites/installs/website-store.ts';
import { isInUse } from '../backup-uses-store.ts';
import { recordRecoveryPoint } from './jobs.ts';
import { baseOf, keptPoints, periodMs } from './rules.ts';
import { type MachineSource, requestPoints } from './schedule.ts';
import { changeStates, dailyBackupAt, insertPoint, keepPoints, pointsOf } from './store.ts';

/** The job that makes a recovery point, and deletes former ones. */
export function recordKind(platform: Platform, fleet: MachineSource): JobKind {
  const { config, database, clock } = platform;
  const period = periodMs(config.recoveryPointMinutes);
  /** Chooses the base of the next point, and the points to keep. The others are deleted from the list first, so that no restore of one is requested any more. */
  async function choosePoints(
    transaction: Transaction,
    installId: string,
  ): Promise<{ baseId: string | null; keep: string[] }> {
    const { queries } = transaction;
    await lockRow(transaction, 'installs', installId);
    const points = await pointsOf(queries, installId);
    const baseId = baseOf(points, clock.now());
    const kept = keptPoints(points, await dailyBackupAt(queries, installId));
    if (baseId !== null) kept.add(baseId);
    for (const { id, base_id } of points) {
      // Its restore waits behind this job.
      if (kept.has(id) || !(await isInUse(queries, id))) continue;
      for (const one of base_id === null ? [id] : [id, base_id]) kept.add(one);
    }
    const keep = [...kept];
    await keepPoints(queries, installId, keep);
    return { baseId, keep };
  }

  return defineJob({
    ...recordRecoveryPoint,
    async run({ install_id, point_id }, { signal }) {
      const { reader } = database;
      const install = await findActiveInstall(reader, install_id);
      const hostId = (await findPlacement(reader, install_id))?.host_id ?? null;
      if (!install || hostId === null || (await lostDataOf(reader, install_id)) !== null) return;
      const { baseId, keep } = await database.write((transaction) => choosePoints(transaction, install_id));
      const machine = await postponing(fleet.machine(hostId));
      const taken_at = timestamp(clock);
      const order = { pointId: point_id, baseId, keep };
      const made = await permanently(postponing(machine.recordPoint(install, order, signal)));
      return async (transaction) => {
        const { queries } = transaction;
        const { bytes } = made.snapshot;
        await insertPoint(queries, install_id, { id: point_id, base_id: made.baseId, taken_at, bytes });
        await changeStates(queries, [install_id], {
          ...{ mark: made.mark, covered_at: taken_at, reason: null, due_at: timestamp(clock, period) },
        });
        await requestPoints(platform, transaction);
      };
    },
    // Its remains on the host go with the next one.
    async giveUp({ install_id }, { reason }, { queries }) {
      await changeStates(queries, [install_id], { reason, mark: null, due_at: timestamp(clock, period) });
    },
  });
}
