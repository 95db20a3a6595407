import type { Static } from 'typebox';
import type { Scope } from '../../../access/memberships.ts';
import type { Queries } from '../../../database/database.ts';
import { OLDEST_FIRST } from '../../../lib/page.ts';
import { hasStoredCounts } from '../installs/counts-store.ts';
import {
  countSites,
  pageOfSites,
  type SiteRow,
  sitesBySize,
  sitesInOrder,
  sitesOfScope,
  sizesOfSites,
} from '../sites/store.ts';
import type { InstallConditions } from './install-conditions.ts';
import { MOST_SORTED } from './listed-installs.ts';
import { countUnassigned, sitesOfInstalls } from './listed-installs-store.ts';
import { type InstallOfSite, installsOfListedSites } from './listed-sites-store.ts';
import type { listedSiteSchema } from './schema.ts';
import { installsByDomain } from './store.ts';

export type ListedSite = Static<typeof listedSiteSchema>;

/** Sort orders of the list of sites. `installs`: the site with the fewest comes first. */
export const SITE_SORTS = ['name', 'installs', 'created'] as const;
export type SiteListSort = (typeof SITE_SORTS)[number];

/** Sites that are sorted by numbers in their names or of their installs. */
const MOST_SITES = 100_000;

/** Which sites to list. */
interface Asked {
  text: string;
  tags: string | undefined;
  conditions: InstallConditions;
  /** The sites that contain the text and have the tags, if they were found before in a large account (search-parts-store.ts). */
  found?: readonly string[] | undefined;
}

interface Part {
  sort: SiteListSort;
  isDescending: boolean;
  limit: number;
  offset: number;
}

interface SitePage {
  total: number;
  count: number;
  /** Installs without a site, counted up to 10,000. */
  unassigned: number;
  results: ListedSite[];
}

/** One page of the sites of a scope whose name, or the name or a domain of an install, contains a text. */
export async function listSites(queries: Queries, scope: Scope, asked: Asked, part: Part): Promise<SitePage> {
  const total = await countSites(queries, scope, {});
  const unassigned = await countUnassigned(queries, scope);
  const found =
    (await indexedPage(queries, scope, asked, part, total)) ??
    (await sortedPage(queries, scope, asked, part));
  const results = await withInstalls(queries, scope, found.page, asked.conditions);
  return { total, count: found.count, unassigned, results };
}

interface FoundSites {
  count: number;
  page: readonly SiteRow[];
}

/** A page in an order that an index has; null if the page is made by looking at all sites that match. */
async function indexedPage(
  queries: Queries,
  scope: Scope,
  { text, tags }: Asked,
  { sort, isDescending, limit, offset }: Part,
  total: number,
): Promise<FoundSites | null> {
  if (text !== '') return null;
  const [account, ...others] = scope.whole;
  if (sort === 'installs') {
    if (tags !== undefined || !hasStoredCounts(scope) || account === undefined || others.length > 0)
      return null;
    const ids = await sitesBySize(queries, account.account_id, { isDescending, limit, offset });
    return { count: total, page: await sitesInOrder(queries, ids) };
  }
  const filters = tags === undefined ? {} : { tags };
  const count = tags === undefined ? total : await countSites(queries, scope, filters);
  // Numbers in names have no order in the database.
  if (sort === 'name' && count <= MOST_SORTED) return null;
  const key = sort === 'name' ? 'name' : null;
  const request = { limit, offset, sort: { key, isDescending }, cursor: null } as const;
  return { count, page: (await pageOfSites(queries, scope, request, filters, count)).results };
}

async function sortedPage(
  queries: Queries,
  scope: Scope,
  { text, tags, conditions, found: before }: Asked,
  { sort, isDescending, limit, offset }: Part,
): Promise<FoundSites> {
  const everything = { texts: [], soon: conditions.soon };
  const asked = tags === undefined ? {} : { tags };
  const part = { sort, isDescending, limit, offset };
  if (before !== undefined) {
    const sites = await sitesOfScope(queries, scope, before);
    return pageOfSorted(sites, sort === 'installs' ? await sizesOfSites(queries, before) : new Map(), part);
  }
  const count = await countSites(queries, scope, asked);
  const [{ results: sites }, sizes, byInstall] = await Promise.all([
    pageOfSites(queries, scope, { limit: MOST_SITES, offset: 0, ...OLDEST_FIRST }, asked, count),
    sort === 'installs' ? sitesOfInstalls(queries, scope, everything) : new Map<string, number>(),
    text === '' ? null : sitesOfInstalls(queries, scope, conditions),
  ]);
  const found = sites.filter(
    ({ id, name }) => byInstall === null || byInstall.has(id) || name.toLowerCase().includes(text),
  );
  return pageOfSorted(found, sizes, part);
}

/** A page of these sites, which are in the order of their creation. `sizes`: the installs of each. */
function pageOfSorted(
  found: SiteRow[],
  sizes: ReadonlyMap<string, number>,
  { sort, isDescending, limit, offset }: Part,
): FoundSites {
  // Names are compared here, because SQLite folds case in ASCII only, and people expect Site 2 before Site 10.
  const collator = new Intl.Collator('en', { numeric: true, sensitivity: 'base' });
  const compare: Record<SiteListSort, (one: SiteRow, other: SiteRow) => number> = {
    name: (one, other) => collator.compare(one.name, other.name),
    installs: (one, other) => (sizes.get(one.id) ?? 0) - (sizes.get(other.id) ?? 0),
    created: () => 0,
  };
  const ordered = found.sort(compare[sort]);
  const page = (isDescending ? ordered.reverse() : ordered).slice(offset, offset + limit);
  return { count: found.length, page };
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
  const matches = texts.length === 0 || ids.length === 0 ? [] : await installsByDomain(queries, texts, ids);
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
