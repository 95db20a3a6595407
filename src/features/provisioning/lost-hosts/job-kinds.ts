import { OPERATOR } from '../../../access/caller.ts';
import { OPEN_REBUILD } from '../../../database/tables/rebuilds.ts';
import { defineJob, type JobKind } from '../../../jobs/job.ts';
import { timestamp } from '../../../lib/clock.ts';
import type { Platform } from '../../../platform/platform.ts';
import { applyInstall } from '../../websites/installs/jobs.ts';
import { endLoss, findWebsite } from '../../websites/installs/website-store.ts';
import { requestReading } from '../../websites/wordpress/request-reading.ts';
import type { MovingFleet } from '../moves/run-move.ts';
import { rebuildInstall } from './jobs.ts';
import { changeRebuild, findRebuild } from './rebuild-store.ts';
import { runRebuild } from './run-rebuild.ts';

/** The jobs that rebuild installs of lost hosts. */
export function rebuildJobKinds(platform: Platform, fleet: MovingFleet): JobKind[] {
  const { activity, database, queue, clock } = platform;
  return [
    defineJob({
      ...rebuildInstall,
      async run({ rebuild_id, hosts }, { signal, progress, isHeld }) {
        const rebuild = await findRebuild(database.reader, rebuild_id);
        if (rebuild === undefined) return;
        await runRebuild(platform, fleet, rebuild, { hosts, signal, progress, isHeld });
        return async (transaction) => {
          const { queries } = transaction;
          const { install_id: id, install_name: name } = rebuild;
          const change = { step: 'rebuilt' as const, finished_at: timestamp(clock) };
          await changeRebuild(queries, rebuild_id, OPEN_REBUILD, change);
          await endLoss(queries, id);
          const website = await findWebsite(queries, { id });
          if (website !== undefined) {
            // The rebuild has chosen its backup since.
            const { backup_at = null } = (await findRebuild(queries, rebuild_id)) ?? {};
            await activity.record(transaction, OPERATOR, website.account_id, {
              ...{ action: 'install.rebuild', subject: { id, name }, installId: id, details: { backup_at } },
            });
          }
          // Before the jobs that waited for the lost host.
          await queue.enqueue(transaction, applyInstall, { payload: { id }, lane: id, ahead: true });
          await requestReading(transaction, queue, id);
        };
      },
      async giveUp({ rebuild_id }, { reason }, { queries }) {
        const change = { step: 'failed' as const, reason, finished_at: timestamp(clock) };
        await changeRebuild(queries, rebuild_id, OPEN_REBUILD, change);
      },
    }),
  ];
}
