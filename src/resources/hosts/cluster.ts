import type { Config } from '../../config.ts';
import type { Queries } from '../../database/database.ts';

/** The name of the host that an install is on, as reports tell it; empty while it is not placed on any. */
export async function clusterOf(
  queries: Queries,
  { host }: Pick<Config, 'host'>,
  installId: string,
): Promise<string> {
  if (host === 'embedded') return 'embedded';
  const row = await queries
    .selectFrom('installs as install')
    .innerJoin('hosts as host', 'host.id', 'install.host_id')
    .select('host.name')
    .where('install.id', '=', installId)
    .executeTakeFirst();
  return row?.name ?? '';
}
