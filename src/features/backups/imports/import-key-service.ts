import { type Caller, OPERATOR } from '../../../access/caller.ts';
import { authorize } from '../../../access/permissions.ts';
import type { Transaction } from '../../../database/database.ts';
import { lockRow } from '../../../database/lock.ts';
import { STATIC_ONLY } from '../../../hosting/policy/static-only.ts';
import { Conflict, InvalidRequest, NotFound } from '../../../lib/failures.ts';
import type { Actor } from '../../../platform/activity-log.ts';
import type { Platform } from '../../../platform/platform.ts';
import { findInstallAccess } from '../../websites/installs/store.ts';
import { findWebsite } from '../../websites/installs/website-store.ts';
import { findImportKey, insertImportKey } from './import-key-store.ts';
import { makeKeyPair } from './key-pair.ts';

/** The public half of the key pair with which an install signs in to another host. */
export interface ImportKey {
  public_key: string;
  created_at: string;
}

export type ImportKeyService = ReturnType<typeof createImportKeyService>;

/** Provides the key pairs of imports by SSH. */
export function createImportKeyService(
  { database, activity, sealer, clock }: Pick<Platform, 'database' | 'activity' | 'sealer' | 'clock'>,
  { hasWordPress }: { hasWordPress: boolean },
) {
  /** Returns the key of a locked install, and makes it if it is missing. */
  async function provide(
    transaction: Transaction,
    actor: Actor,
    { id, name, account_id }: { id: string; name: string; account_id: string },
  ): Promise<ImportKey> {
    if (!hasWordPress) throw new Conflict(STATIC_ONLY.reason);
    const present = await findImportKey(transaction.queries, id);
    if (present) return { public_key: present.public_key, created_at: present.created_at };
    const { publicKey, privateKey } = makeKeyPair(`homeport-import-${name}`);
    const made = { public_key: publicKey, created_at: clock.now().toISOString() };
    await insertImportKey(transaction.queries, {
      install_id: id,
      sealed_key: sealer.seal(privateKey),
      ...made,
    });
    await activity.record(transaction, actor, account_id, {
      action: 'install.create_import_key',
      subject: { id, name },
      installId: id,
    });
    return made;
  }

  return {
    /** Returns the key of an install, and makes it at the first call. Throws NotFound, Forbidden, Conflict. */
    provide: (caller: Caller, installId: string): Promise<ImportKey> =>
      database.write(async (transaction) => {
        const { queries } = transaction;
        authorize('install.work', 'install.read', await findInstallAccess(queries, caller, installId));
        await lockRow(transaction, 'installs', installId);
        const install = await findWebsite(queries, { id: installId });
        if (!install) throw new NotFound();
        return provide(transaction, caller, install);
      }),

    /** For the command line. Throws InvalidRequest for an unknown install; Conflict. */
    provideAsOperator: (name: string): Promise<ImportKey> =>
      database.write(async (transaction) => {
        const install = await findWebsite(transaction.queries, { name });
        if (!install) {
          throw new InvalidRequest(`There is no install "${name}"; "homeport install list" shows them all.`);
        }
        await lockRow(transaction, 'installs', install.id);
        return provide(transaction, OPERATOR, install);
      }),
  };
}
