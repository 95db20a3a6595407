import { type Caller, OPERATOR } from '../../../access/caller.ts';
import { authorize } from '../../../access/permissions.ts';
import { changeFor } from '../../../access/request-transactions.ts';
import type { Transaction } from '../../../database/database.ts';
import { lockRow } from '../../../database/lock.ts';
import { NotFound } from '../../../lib/failures.ts';
import type { Actor } from '../../../platform/activity-log.ts';
import type { Platform } from '../../../platform/platform.ts';
import type { CapabilityReader } from '../../hosts/capabilities.ts';
import { lockNamed, type Website } from '../../websites/installs/requested-website.ts';
import { findInstallAccess } from '../../websites/installs/store.ts';
import { findWebsite } from '../../websites/installs/website-store.ts';
import { deleteImportKey, findImportKey, insertImportKey } from './import-key-store.ts';
import { makeKeyPair } from './key-pair.ts';

/** The public key of an install, for other hosts that it imports from. */
export interface ImportKey {
  public_key: string;
  created_at: string;
}

export type ImportKeyService = ReturnType<typeof createImportKeyService>;

/** Provides the key pairs of imports by SSH. */
export function createImportKeyService(
  { database, activity, sealer, clock }: Pick<Platform, 'database' | 'activity' | 'sealer' | 'clock'>,
  capabilities: Pick<CapabilityReader, 'require'>,
) {
  /** Work on the key of a locked install. */
  type KeyWork<Result> = (transaction: Transaction, actor: Actor, install: Website) => Promise<Result>;

  /** Returns the key, and makes it if it is missing. */
  const provide: KeyWork<ImportKey> = async (transaction, actor, install) => {
    await capabilities.require(transaction.queries, install, 'imports_by_ssh');
    const present = await findImportKey(transaction.queries, install.id);
    if (present) return { public_key: present.public_key, created_at: present.created_at };
    return make(transaction, actor, install, 'install.create_import_key');
  };

  /** Replaces the key by another one. */
  const renew: KeyWork<ImportKey> = async (transaction, actor, install) => {
    await capabilities.require(transaction.queries, install, 'imports_by_ssh');
    const wasThere = await deleteImportKey(transaction.queries, install.id);
    const action = wasThere ? 'install.renew_import_key' : 'install.create_import_key';
    return make(transaction, actor, install, action);
  };

  const remove: KeyWork<void> = async (transaction, actor, { id, name, account_id }) => {
    if (!(await deleteImportKey(transaction.queries, id))) throw new NotFound();
    await activity.record(transaction, actor, account_id, {
      action: 'install.delete_import_key',
      subject: { id, name },
      installId: id,
    });
  };

  async function make(
    transaction: Transaction,
    actor: Actor,
    { id, name, account_id }: Website,
    action: 'install.create_import_key' | 'install.renew_import_key',
  ): Promise<ImportKey> {
    const { publicKey, privateKey } = makeKeyPair(`homeport-import-${name}`);
    const made = { public_key: publicKey, created_at: clock.now().toISOString() };
    await insertImportKey(transaction.queries, {
      install_id: id,
      sealed_key: sealer.seal(privateKey),
      ...made,
    });
    await activity.record(transaction, actor, account_id, {
      action,
      subject: { id, name },
      installId: id,
    });
    return made;
  }

  /** For users. Throws NotFound, Forbidden, and what the work throws. */
  const byCaller =
    <Result>(work: KeyWork<Result>) =>
    (caller: Caller, installId: string): Promise<Result> =>
      changeFor(database, caller, async (transaction) => {
        const { queries } = transaction;
        authorize('install.work', 'install.read', await findInstallAccess(queries, caller, installId));
        await lockRow(transaction, 'installs', installId);
        const install = await findWebsite(queries, { id: installId });
        if (!install) throw new NotFound();
        return work(transaction, caller, install);
      });

  /** For the command line. Throws InvalidRequest for an unknown install, and what the work throws. */
  const byOperator =
    <Result>(work: KeyWork<Result>) =>
    (name: string): Promise<Result> =>
      database.write(async (transaction) => {
        const install = await lockNamed(transaction, name);
        return work(transaction, OPERATOR, install);
      });

  return {
    /** Returns the key of an install, and makes it at the first call. Throws CapabilityUnavailable. */
    provide: byCaller(provide),
    provideAsOperator: byOperator(provide),
    /** Makes another key; the former one is gone, also for imports that wait. Throws CapabilityUnavailable. */
    renew: byCaller(renew),
    renewAsOperator: byOperator(renew),
    /** Deletes the key, also for imports that wait. Throws NotFound without one. */
    remove: byCaller(remove),
    removeAsOperator: byOperator(remove),
  };
}
