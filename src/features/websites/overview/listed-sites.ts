import type { Static } from 'typebox';
import type { Scope } from '../../../access/memberships.ts';
import type { Queries } from '../../../database/database.ts';
import { OLDEST_FIRST } from '../../../lib/page.ts';
import { countSites, pageOfSites, type SiteRow } from '../sites/store.ts';
import { type InstallConditions, NONE } from './install-conditions.ts';
import { countListed, sitesOfInstalls } from './listed-installs-store.ts';
import { type InstallOfSite, installsOfListedSites } from './listed-sites-store.ts';
import type { listedSiteSchema } from './schema.ts';
import { installsByDomain } from './store.ts';

export type ListedSite = Static<typeof listedSiteSchema>;

/** Sort orders of the list of sites. `installs`: the site with the fewest comes first. */
export const SITE_SORTS = ['name', 'installs', 'created'] as const;
export type SiteListSort = (typeof SITE_SORTS)[number];

const MOST_SITES = 100_000;

/** One page of the sites of a scope whose name, or the name or a domain of an install, contains a text. */
export async function listSites(
  queries: Queries,
  scope: Scope,
  { text, tags, conditions }: { text: string; tags: string | undefined; conditions: InstallConditions },
  {
    sort,
    isDescending,
    limit,
    offset,
  }: { sort: SiteListSort; isDescending: boolean; limit: number; offset: number },
): Promise<{ total: number; count: number; unassigned: number; results: ListedSite[] }> {
  const everything = { texts: [], soon: conditions.soon };
  const asked = tags === undefined ? {} : { tags };
  const [{ results: sites }, total, sizes, unassigned, byInstall] = await Promise.all([
    pageOfSites(queries, scope, { limit: MOST_SITES, offset: 0, ...OLDEST_FIRST }, asked, MOST_SITES),
    countSites(queries, scope, {}),
    sitesOfInstalls(queries, scope, everything),
    countListed(queries, scope, { ...everything, site: NONE }),
    text === '' ? null : sitesOfInstalls(queries, scope, conditions),
  ]);
  const found = sites.filter(
    ({ id, name }) => byInstall === null || byInstall.has(id) || name.toLowerCase().includes(text),
  );
  // Names are compared here, because SQLite folds case in ASCII only, and people expect Site 2 before Site 10.
  const collator = new Intl.Collator('en', { numeric: true, sensitivity: 'base' });
  const compare: Record<SiteListSort, (one: SiteRow, other: SiteRow) => number> = {
    name: (one, other) => collator.compare(one.name, other.name),
    installs: (one, other) => (sizes.get(one.id) ?? 0) - (sizes.get(other.id) ?? 0),
    // They are read in the order of their creation.
    created: () => 0,
  };
  const ordered = found.sort(compare[sort]);
  const page = (isDescending ? ordered.reverse() : ordered).slice(offset, offset + limit);
  return {
    total,
    count: found.length,
    unassigned,
    results: await withInstalls(queries, scope, page, conditions),
  };
}

async function withInstalls(
  queries: Queries,
  scope: Scope,
  sites: readonly SiteRow[],
  { texts, soon }: InstallConditions,
): Promise<ListedSite[]> {
  if (sites.length === 0) return [];
  const installs = await installsOfListedSites(
    queries,
    scope,
    sites.map(({ id }) => id),
    soon,
  );
  const ids = installs.map(({ id }) => id);
  const matches =
    texts.length === 0 || ids.length === 0 ? [] : await installsByDomain(queries, scope, texts, ids);
  const byDomain = new Map(matches.map(({ install_id, name }) => [install_id, name]));
  const isShown = ({ name, primary_domain }: InstallOfSite) =>
    texts.some((text) => [name, primary_domain ?? ''].some((shown) => shown.includes(text)));
  return sites.map(({ id, name, tags, created_at }) => ({
    id,
    name,
    tags,
    created_at,
    installs: installs
      .filter(({ site_id }) => site_id === id)
      .map((install) => ({
        id: install.id,
        name: install.name,
        environment: install.environment,
        status: install.status,
        needs_attention: install.needs_attention === 1,
        matched_domain: isShown(install) ? null : (byDomain.get(install.id) ?? null),
      })),
  }));
}
