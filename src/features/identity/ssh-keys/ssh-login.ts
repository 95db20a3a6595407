import { isAllowed } from '../../../access/permissions.ts';
import type { Database } from '../../../database/database.ts';
import type { SshLogin } from '../../../hosting/contract/questions.ts';
import { ownersOfKey } from './store.ts';

/**
 * Finds the user for an SSH login: an owner of the key who may work on the install. Several users can have the same key,
 * and one of them with permission is enough. Null refuses the login.
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
