import type { Queries } from '../../../database/database.ts';
import type { Environment, InstallStatus } from '../../../database/tables/installs.ts';

/** An install as operators see it. */
export interface OperatorsInstall {
  id: string;
  name: string;
  status: InstallStatus;
  environment: Environment | null;
  wordpress_version: string | null;
  /** The missing data of the website, which is closed to visitors because of that; null if no data is missing. */
  lost_data: string | null;
  account: { id: string; name: string };
  /** The host; null until placement, and on the embedded host. */
  host: string | null;
  created_at: string;
}

/** All installs of the platform or of one account, by name. For the command line. */
export async function everyInstall(queries: Queries, accountId: string | null): Promise<OperatorsInstall[]> {
  const rows = await queries
    .selectFrom('installs as install')
    .innerJoin('accounts as account', 'account.id', 'install.account_id')
    .leftJoin('hosts as host', 'host.id', 'install.host_id')
    .select(['install.id', 'install.name', 'install.status', 'install.environment', 'install.created_at'])
    .select([
      'install.wordpress_version',
      'install.lost_data',
      'account.name as account_name',
      'host.name as host',
    ])
    .select('install.account_id')
    .$if(accountId !== null, (query) => query.where('install.account_id', '=', accountId))
    .orderBy('install.name')
    .execute();
  return rows.map(({ account_id, account_name, ...install }) => ({
    ...install,
    account: { id: account_id, name: account_name },
  }));
}

export async function activeInstallIds(queries: Queries): Promise<string[]> {
  const rows = await queries.selectFrom('installs').select('id').where('status', '=', 'active').execute();
  return rows.map(({ id }) => id);
}
