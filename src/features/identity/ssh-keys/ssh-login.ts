import { isAllowed } from '../../../access/permissions.ts';
import type { Database } from '../../../database/database.ts';
import type { SshLogin } from '../../../hosting/contract/host.ts';
import { ownersOfKey } from './store.ts';

/**
 * Answers the gateway: whose key this is, if its owner may work on the install of that name now. The same key may be
 * several people's; any of them who may is enough.
 */
export function createSshLogin({ reader }: Pick<Database, 'reader'>) {
  return async (installName: string, fingerprintSha256: string): Promise<SshLogin | null> => {
    const owners = await ownersOfKey(reader, installName, fingerprintSha256);
    const allowed = owners.find(({ role, granted }) =>
      isAllowed('install.work', { role, own: granted !== null }),
    );
    return allowed ? { install: { id: allowed.id, name: allowed.name }, userId: allowed.user_id } : null;
  };
}
