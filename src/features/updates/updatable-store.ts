import { inScope, type Scope } from '../../access/memberships.ts';
import type { Queries } from '../../database/database.ts';

/** The ids of the active installs that a scope shows, oldest first. */
export async function activeInstallsInScope(queries: Queries, scope: Scope): Promise<string[]> {
  if (scope.whole.length + scope.partial.length === 0) return [];
  const rows = await queries
    .selectFrom('installs as install')
    .select('install.id')
    .where((eb) => inScope(eb, scope))
    .where('install.status', '=', 'active')
    .orderBy('install.seq')
    .execute();
  return rows.map(({ id }) => id);
}
