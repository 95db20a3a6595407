import { sql } from 'kysely';
import type { Scope } from '../../../access/memberships.ts';
import type { Queries } from '../../../database/database.ts';
import { hasStoredCounts } from '../installs/counts-store.ts';
import { installsInSites, shownSites } from '../sites/store.ts';

/** A tag with the number of sites and installs that a scope shows. */
export interface CountedTag {
  name: string;
  site_count: number;
  install_count: number;
}

/** The tags of the sites that a scope of one account shows. Whole accounts store their numbers. */
export function tagsInScope(queries: Queries, scope: Scope): Promise<CountedTag[]> {
  if (hasStoredCounts(scope)) {
    return queries
      .selectFrom('tag_counts')
      .select(['tag as name', 'sites as site_count', 'installs as install_count'])
      .where(
        'account_id',
        'in',
        scope.whole.map((membership) => membership.account_id),
      )
      .execute();
  }
  return queries
    .selectFrom('site_tags as tagged')
    .innerJoin('sites as site', 'site.id', 'tagged.site_id')
    .leftJoin(
      installsInSites(queries, scope)
        .select((eb) => ['install.site_id', eb.fn.countAll<number>().as('shown')])
        .groupBy('install.site_id')
        .as('counted'),
      'counted.site_id',
      'site.id',
    )
    .select((eb) => [
      eb.fn.min('tagged.tag').as('name'),
      eb.fn.countAll<number>().as('site_count'),
      sql<number>`cast(coalesce(sum(counted.shown), 0) as bigint)`.as('install_count'),
    ])
    .where((eb) => shownSites(queries, eb, scope))
    .groupBy('tagged.key')
    .execute();
}
