import { type Caller, OPERATOR } from '../../../access/caller.ts';
import { findMembership } from '../../../access/memberships.ts';
import { authorize } from '../../../access/permissions.ts';
import { changeFor } from '../../../access/request-transactions.ts';
import type { Queries, Transaction } from '../../../database/database.ts';
import { lockRow } from '../../../database/lock.ts';
import { uniqueViolation } from '../../../database/unique-violation.ts';
import { timestamp } from '../../../lib/clock.ts';
import { Conflict, InvalidRequest, NotFound } from '../../../lib/failures.ts';
import type { Actor } from '../../../platform/activity-log.ts';
import type { Platform } from '../../../platform/platform.ts';
import { findLoss } from '../../hosts/store.ts';
import { isKeptByOthers } from '../../websites/installs/kept-names-store.ts';
import { findInstallId } from '../../websites/installs/website-store.ts';
import { newestPresent } from './kept.ts';
import { type Restored, restoreInstall } from './restore.ts';
import { allDeleted, type DeletedInstall, deletedOfAccount, findDeleted } from './store.ts';

export type DeletedInstallService = ReturnType<typeof createDeletedInstallService>;

export function createDeletedInstallService(platform: Platform) {
  const { database, activity, clock } = platform;

  async function requireRight(queries: Queries, caller: Caller, accountId: string): Promise<void> {
    const member = await findMembership(queries, caller, accountId);
    authorize('install.change', 'account.read', member && { role: member.role, own: false });
  }

  async function restore(transaction: Transaction, actor: Actor, deleted: DeletedInstall): Promise<Restored> {
    const { queries } = transaction;
    const { id, name, account_id, host_id, state, expires_at } = deleted;
    if (state === 'deleting') {
      throw new Conflict('The install is still being deleted. Try again when its last backup is made.');
    }
    if (expires_at <= timestamp(clock)) throw new NotFound();
    const loss = host_id === null ? undefined : await findLoss(queries, host_id);
    if (loss !== undefined && loss.lost_at !== null) {
      throw new Conflict(
        'The machine that keeps the backups of the install is lost. The operator of the platform has to bring it back first.',
      );
    }
    if (newestPresent(deleted.kept) === undefined) {
      throw new Conflict(
        'The backups of the install are missing from the backup storage. Ask the operator of the platform to bring them back.',
      );
    }
    if ((await findInstallId(queries, name)) || (await isKeptByOthers(queries, name, account_id))) {
      throw nameTaken(name);
    }
    const restored = await restoreInstall(transaction, platform, deleted, actor.origin.requestId);
    await activity.record(transaction, actor, account_id, {
      action: 'install.restore',
      subject: { id, name },
      installId: id,
    });
    return restored;
  }

  return {
    /** The deleted installs of an account, the latest first. Throws NotFound, Forbidden. */
    async list(caller: Caller, accountId: string): Promise<DeletedInstall[]> {
      await requireRight(database.reader, caller, accountId);
      return deletedOfAccount(database.reader, accountId);
    },

    /** Returns the id of the operation that restores the backup. Throws NotFound, Forbidden, Conflict. */
    restore: (caller: Caller, id: string): Promise<string> =>
      changeFor(database, caller, async (transaction) => {
        await lockRow(transaction, 'deleted_installs', id);
        const deleted = await findDeleted(transaction.queries, id);
        if (deleted === undefined) throw new NotFound();
        await requireRight(transaction.queries, caller, deleted.account_id);
        return (await restore(transaction, caller, deleted)).operationId;
      }).catch((error: unknown) => {
        throw uniqueViolation(error) === 'installs.name' ? nameTaken('of the install') : error;
      }),

    /** For the command line: every deleted install, the latest first. */
    listAll: (): Promise<DeletedInstall[]> => allDeleted(database.reader),

    /** For the command line: by name, or by id if several have it. Throws InvalidRequest, Conflict. */
    async restoreByName(
      name: string,
      id: string | null,
    ): Promise<{ jobId: string; installId: string; withheld: string[] }> {
      return database.write(async (transaction) => {
        const found = (await allDeleted(transaction.queries, name)).filter(
          (one) => id === null || one.id === id,
        );
        const [only, ...others] = found;
        if (only === undefined) {
          throw new InvalidRequest(
            `There is no deleted install "${name}"${id === null ? '' : ` with the id ${id}`}; "homeport install deleted" shows them all.`,
          );
        }
        if (others.length > 0) {
          const all = found.map((one) => `${one.id} (deleted ${one.deleted_at})`).join(', ');
          throw new InvalidRequest(`Several deleted installs have the name "${name}". Add --id: ${all}.`);
        }
        await lockRow(transaction, 'deleted_installs', only.id);
        const { operationId, withheld } = await restore(transaction, OPERATOR, only);
        return { jobId: operationId, installId: only.id, withheld };
      });
    },
  };
}

const nameTaken = (name: string) =>
  new Conflict(`The name ${name} is in use by another install. Delete that one first.`);
