import type { Queries } from '../../../database/database.ts';
import type { InstallRef } from '../../../hosting/contract/host.ts';

/** An install as the hosts know it, whatever became of it. */
export function findInstallRef(queries: Queries, id: string): Promise<InstallRef | undefined> {
  return queries.selectFrom('installs').select(['id', 'name']).where('id', '=', id).executeTakeFirst();
}

/** The same, if the install has a website. */
export function findActiveInstall(queries: Queries, id: string): Promise<InstallRef | undefined> {
  return queries
    .selectFrom('installs')
    .select(['id', 'name'])
    .where('id', '=', id)
    .where('status', '=', 'active')
    .executeTakeFirst();
}

export async function findInstallId(queries: Queries, name: string): Promise<string | undefined> {
  const install = await queries
    .selectFrom('installs')
    .select('id')
    .where('name', '=', name)
    .executeTakeFirst();
  return install?.id;
}
