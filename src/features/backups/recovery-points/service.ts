import { OPERATOR } from '../../../access/caller.ts';
import { lockRow } from '../../../database/lock.ts';
import { InvalidRequest } from '../../../lib/failures.ts';
import { parseUuid } from '../../../lib/ids.ts';
import type { Platform } from '../../../platform/platform.ts';
import { findInstallId } from '../../websites/installs/website-store.ts';
import { requireActiveTarget } from '../copy-target.ts';
import { restoreBackup } from '../jobs.ts';
import { type Point, pointsOf, stateOf } from './store.ts';

/** The recovery points of an install, newest first. */
export interface SeenPoints {
  install: { id: string; name: string };
  points: Pick<Point, 'id' | 'taken_at' | 'bytes'>[];
  /** The newest one has every change from before this time; null without any. */
  covered_at: string | null;
  /** Why the last try failed; null if it succeeded. */
  reason: string | null;
}

/** Recovery points for the command line. */
export function createRecoveryPointService({
  database,
  queue,
  activity,
}: Pick<Platform, 'database' | 'queue' | 'activity'>) {
  /** The points of an install by its name. Throws InvalidRequest. */
  async function list(name: string): Promise<SeenPoints> {
    const { reader } = database;
    const id = await findInstallId(reader, name);
    if (id === undefined) {
      throw new InvalidRequest(`There is no install "${name}"; "homeport install list" shows them all.`);
    }
    const state = await stateOf(reader, id);
    const points = (await pointsOf(reader, id)).map(({ id: point, taken_at, bytes }) => ({
      ...{ id: point, taken_at, bytes },
    }));
    const { covered_at = null, reason = null } = state ?? {};
    return { install: { id, name }, points, covered_at, reason };
  }

  return {
    list,

    /**
     * Requests the restore of a whole website from a recovery point, by default the newest. Returns the job's id. Throws InvalidRequest, NotFound.
     */
    async requestRestore(name: string, wanted?: string): Promise<{ jobId: string; taken_at: string }> {
      const { install, points } = await list(name);
      const point = wanted === undefined ? points[0] : points.find(({ id }) => id === parseUuid(wanted));
      if (point === undefined) {
        throw new InvalidRequest(
          wanted === undefined
            ? `The install "${name}" has no recovery point. "homeport backup list" shows its backups.`
            : `The install "${name}" has no recovery point ${wanted}. "homeport backup points" shows them.`,
        );
      }
      const jobId = await database.write(async (transaction) => {
        await lockRow(transaction, 'installs', install.id);
        // From here on, no later point deletes it before.
        if (!(await pointsOf(transaction.queries, install.id)).some(({ id }) => id === point.id)) {
          throw new InvalidRequest(
            `The recovery point ${point.id} was deleted meanwhile. Choose another one.`,
          );
        }
        const target = await requireActiveTarget(transaction.queries, install.id, install.id);
        await activity.record(transaction, OPERATOR, target.account_id, {
          action: 'backup.restore',
          subject: { id: point.id, name: 'Recovery point' },
          installId: install.id,
          details: { from: name, to: name },
        });
        return queue.enqueue(transaction, restoreBackup, {
          payload: { backup_id: point.id, install_id: install.id, from_id: install.id },
          lane: install.id,
          requestId: OPERATOR.origin.requestId,
        });
      });
      return { jobId, taken_at: point.taken_at };
    },
  };
}
