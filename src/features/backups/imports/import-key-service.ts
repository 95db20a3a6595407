import { type Caller, OPERATOR } from '../../../access/caller.ts';
import { authorize } from '../../../access/permissions.ts';
import type { Transaction } from '../../../database/database.ts';
import { lockRow } from '../../../database/lock.ts';
import { STATIC_ONLY } from '../../../hosting/policy/static-only.ts';
import { Conflict, NotFound } from '../../../lib/failures.ts';
import type { Actor } from '../../../platform/activity-log.ts';
import type { Platform } from '../../../platform/platform.ts';
import { lockNamed } from '../../websites/installs/requested-website.ts';
import { findInstallAccess } from '../../websites/installs/store.ts';
import { findWebsite } from '../../websites/installs/website-store.ts';
import { deleteImportKey, findImportKey, insertImportKey } from './import-key-store.ts';
import { makeKeyPair } from './key-pair.ts';

/** The public key of an install, for other hosts that it imports from. */
export interface ImportKey {
  public_key: string;
  created_at: string;
}

interface KeyOwner {
  id: string;
  name: string;
  account_id: string;
}

export type ImportKeyService = ReturnType<typeof createImportKeyService>;

/** Provides the key pairs of imports by SSH. */
export function createImportKeyService(
  { database, activity, sealer, clock }: Pick<Platform, 'database' | 'activity' | 'sealer' | 'clock'>,
  { hasWordPress }: { hasWordPress: boolean },
) {
  /** Work on the key of a locked install. */
  type KeyWork<Result> = (transaction: Transaction, actor: Actor, install: KeyOwner) => Promise<Result>;

  function requireWordPress(): void {
    if (!hasWordPress) throw new Conflict(STATIC_ONLY.reason);
  }

  /** Returns the key, and makes it if it is missing. */
  const provide: KeyWork<ImportKey> = async (transaction, actor, install) => {
    requireWordPress();
    const present = await findImportKey(transaction.queries, install.id);
    if (present) return { public_key: present.public_key, created_at: present.created_at };
    return make(transaction, actor, install, 'install.create_import_key');
  };

  /** Replaces the key by another one. */
  const renew: KeyWork<ImportKey> = async (transaction, actor, install) => {
    requireWordPress();
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
    { id, name, account_id }: KeyOwner,
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
      database.write(async (transaction) => {
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
    /** Returns the key of an install, and makes it at the first call. Throws Conflict. */
    provide: byCaller(provide),
    provideAsOperator: byOperator(provide),
    /** Makes another key; the former one is gone, also for imports that wait. Throws Conflict. */
    renew: byCaller(renew),
    renewAsOperator: byOperator(renew),
    /** Deletes the key, also for imports that wait. Throws NotFound without one. */
    remove: byCaller(remove),
    removeAsOperator: byOperator(remove),
  };
}
