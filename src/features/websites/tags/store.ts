import type { Scope } from '../../../access/memberships.ts';
import type { Queries } from '../../../database/database.ts';
import { tagsIn } from '../site-tags/tag-keys.ts';
import { installsInSites, shownSites } from '../sites/store.ts';

/** The tags of the sites that a scope shows, with the number of installs that it shows in each site. */
export async function tagsInScope(
  queries: Queries,
  scope: Scope,
): Promise<{ tags: string[]; installs: number }[]> {
  const [sites, counts] = await Promise.all([
    queries
      .selectFrom('sites as site')
      .select(['site.id', 'site.tags'])
      .where((eb) => shownSites(queries, eb, scope))
      .where('site.tag_keys', '<>', '')
      .orderBy('site.seq')
      .execute(),
    installsInSites(queries, scope)
      .innerJoin('sites as site', 'site.id', 'install.site_id')
      .where('site.tag_keys', '<>', '')
      .select((eb) => ['install.site_id', eb.fn.countAll<number>().as('count')])
      .groupBy('install.site_id')
      .execute(),
  ]);
  const installs = new Map(counts.map(({ site_id, count }) => [site_id, Number(count)]));
  return sites.map(({ id, tags }) => ({ tags: tagsIn(tags), installs: installs.get(id) ?? 0 }));
}
