import type { Transaction } from '../../../database/database.ts';
import type { Host } from '../../../hosting/contract/host.ts';
import { defineJob, type JobKind } from '../../../jobs/job.ts';
import { timestamp } from '../../../lib/clock.ts';
import type { Platform } from '../../../platform/platform.ts';
import { permanently, postponing } from '../../hosts/host-failures.ts';
import { removeInstall } from '../../hosts/removal-job.ts';
import { backUpLast, expireDeleted, removeKeptBackups, retireInstall } from './jobs.ts';
import { newestPresent } from './kept.ts';
import { deleteDeleted, expiredInstalls, findDeleted, noteKept } from './store.ts';

/** Deletions requested at once; the rest follows at the next time. */
const MOST_EXPIRED = 200;

/** The jobs that keep the backups of deleted installs, and delete them in the end. */
export function deletedInstallKinds(platform: Platform, host: Host): JobKind[] {
  const { database, queue, clock } = platform;

  /** Removes the website. Without any backup, nothing is left to keep. */
  async function remove(
    { queries, ...transaction }: Transaction,
    { id, name }: { id: string; name: string },
    reason: string | null,
  ): Promise<void> {
    const deleted = await findDeleted(queries, id);
    if (deleted === undefined) return;
    const last = newestPresent(deleted.kept) ?? deleted.kept.backups.at(-1);
    if (last === undefined) await deleteDeleted(queries, id);
    else await noteKept(queries, id, { backup_id: last.id, ...(reason === null ? {} : { reason }) });
    await queue.enqueue({ queries, ...transaction }, removeInstall, {
      payload: { id, name, host_id: deleted.host_id, keep_backups: last !== undefined },
      lane: id,
      account: deleted.account_id,
    });
  }

  return [
    defineJob({
      ...retireInstall,
      async run({ id, name, host_id: hostId }) {
        await postponing(host.retire({ id, name, hostId }));
        return async (transaction) => {
          const deleted = await findDeleted(transaction.queries, id);
          if (deleted === undefined) return;
          const isMade = deleted.kept.backups.some((backup) => backup.id === deleted.backup_id);
          if (isMade) return remove(transaction, { id, name }, null);
          await queue.enqueue(transaction, backUpLast, {
            payload: { id, name, backup_id: deleted.backup_id },
            lane: id,
            account: deleted.account_id,
          });
        };
      },
      giveUp: ({ id, name }, failure, transaction) => remove(transaction, { id, name }, failure.reason),
    }),
    defineJob({
      ...backUpLast,
      async run({ id, name, backup_id }, { signal }) {
        const created_at = timestamp(clock);
        const { bytes, files, sha256 } = await permanently(
          postponing(host.snapshot({ id, name }, backup_id, signal)),
        );
        return async (transaction) => {
          const deleted = await findDeleted(transaction.queries, id);
          if (deleted === undefined) return;
          const now = timestamp(clock);
          const { wordpress_version } = deleted.kept;
          const made = {
            scheduled: false,
            checkpoint: false,
            created_at,
            finished_at: now,
            verified_at: now,
          };
          await noteKept(transaction.queries, id, {
            backup: {
              ...{ id: backup_id, description: 'Before the deletion', wordpress_version },
              ...{ bytes, files, sha256, ...made },
            },
          });
          await remove(transaction, { id, name }, null);
        };
      },
      giveUp: ({ id, name }, failure, transaction) => remove(transaction, { id, name }, failure.reason),
    }),
    defineJob({
      ...expireDeleted,
      async run() {
        return async (transaction) => {
          const expired = await expiredInstalls(transaction.queries, timestamp(clock), MOST_EXPIRED);
          for (const payload of expired) {
            await queue.enqueue(transaction, removeKeptBackups, { payload, lane: payload.id });
          }
        };
      },
    }),
    defineJob({
      ...removeKeptBackups,
      async run({ id, name, host_id: hostId }) {
        // It may have been restored since.
        const deleted = await findDeleted(database.reader, id);
        if (deleted === undefined || deleted.expires_at > timestamp(clock)) return;
        await postponing(host.removeBackups({ id, name, hostId }));
        return ({ queries }) => deleteDeleted(queries, id);
      },
    }),
  ];
}
