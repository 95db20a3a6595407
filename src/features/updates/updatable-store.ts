import { inScope, type Scope } from '../../access/memberships.ts';
import type { Queries } from '../../database/database.ts';
import { isTagged } from '../websites/installs/list-store.ts';

/** The ids of the active installs that a scope shows, oldest first. With keys of tags, those whose site has all of them. */
export async function activeInstallsInScope(
  queries: Queries,
  scope: Scope,
  tags?: string,
): Promise<string[]> {
  if (scope.whole.length + scope.partial.length === 0) return [];
  const rows = await queries
    .selectFrom('installs as install')
    .select('install.id')
    .where((eb) => inScope(eb, scope))
    .where('install.status', '=', 'active')
    .$if(tags !== undefined, (query) => query.where((eb) => isTagged(eb, tags ?? '')))
    .orderBy('install.seq')
    .execute();
  return rows.map(({ id }) => id);
}
