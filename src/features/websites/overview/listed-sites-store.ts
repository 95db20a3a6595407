import { sql } from 'kysely';
import { inScope, type Scope } from '../../../access/memberships.ts';
import type { Queries } from '../../../database/database.ts';
import { inSites } from '../installs/store.ts';
import { needsAttention } from './store.ts';

export type InstallOfSite = Awaited<ReturnType<typeof installsOfListedSites>>[number];

/** The installs of some sites that a scope shows, oldest first. Certificates that end by `soon` need attention. */
export function installsOfListedSites(
  queries: Queries,
  scope: Scope,
  siteIds: readonly string[],
  soon: string,
) {
  return inSites(queries, siteIds)
    .leftJoin('domains as domain', (join) =>
      join.onRef('domain.install_id', '=', 'install.id').on(sql<boolean>`domain.is_primary`),
    )
    .select([
      'install.id',
      'install.name',
      'install.site_id',
      'install.environment',
      'install.status',
      'domain.name as primary_domain',
    ])
    .select((eb) =>
      sql<number>`case when ${needsAttention(eb, soon)} then 1 else 0 end`.as('needs_attention'),
    )
    .where((eb) => inScope(eb, scope))
    .orderBy('install.seq')
    .execute();
}
