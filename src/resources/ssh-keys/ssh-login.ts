import { isAllowed } from '../../access/permissions.ts';
import type { Database } from '../../database/database.ts';
import type { SshLogin } from '../../hosting/host.ts';

/**
 * Answers the gateway: whose key this is, if its owner may work on the install of that name now. The same key may be
 * several people's; any of them who may is enough.
 */
export function createSshLogin({ reader }: Pick<Database, 'reader'>) {
  return async (installName: string, fingerprintSha256: string): Promise<SshLogin | null> => {
    const rows = await reader
      .selectFrom('installs as install')
      .innerJoin('memberships as member', 'member.account_id', 'install.account_id')
      .innerJoin('ssh_keys as key', 'key.user_id', 'member.user_id')
      .leftJoin('install_grants as given', (join) =>
        join.onRef('given.install_id', '=', 'install.id').onRef('given.user_id', '=', 'member.user_id'),
      )
      .select(['install.id', 'install.name', 'member.user_id', 'member.role', 'given.install_id as granted'])
      .where('install.name', '=', installName)
      .where('install.status', '=', 'active')
      .where('key.fingerprint_sha256', '=', fingerprintSha256)
      // The same answer each time, or a connection would seem to be somebody else's all at once.
      .orderBy('key.seq')
      .execute();
    const allowed = rows.find(({ role, granted }) =>
      isAllowed('install.work', { role, own: granted !== null }),
    );
    return allowed ? { install: { id: allowed.id, name: allowed.name }, userId: allowed.user_id } : null;
  };
}
