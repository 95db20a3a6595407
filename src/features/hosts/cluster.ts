import type { Config } from '../../config/config.ts';
import type { Queries } from '../../database/database.ts';
import { hostNameOf } from './store.ts';

/** The name of an install's host, as status reports show it; empty until the install is placed. */
export async function clusterOf(
  queries: Queries,
  { host }: Pick<Config, 'host'>,
  installId: string,
): Promise<string> {
  if (host === 'embedded') return 'embedded';
  return (await hostNameOf(queries, installId)) ?? '';
}
