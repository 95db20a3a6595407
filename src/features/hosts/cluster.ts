import type { Config } from '../../config/config.ts';
import type { Queries } from '../../database/database.ts';
import { hostNameOf } from './store.ts';

/** The name of the host that an install is on, as reports tell it; empty while it is not placed on any. */
export async function clusterOf(
  queries: Queries,
  { host }: Pick<Config, 'host'>,
  installId: string,
): Promise<string> {
  if (host === 'embedded') return 'embedded';
  return (await hostNameOf(queries, installId)) ?? '';
}
