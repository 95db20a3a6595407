import { type ExpressionBuilder, sql } from 'kysely';
import { type Caller, countsOpenInvitations } from '../../../access/caller.ts';
import { limitedRole } from '../../../access/limits.ts';
import { inScope, loadScope, type Membership, type Scope } from '../../../access/memberships.ts';
import type { ResourceAccess } from '../../../access/permissions.ts';
import type { Queries } from '../../../database/database.ts';
import { ofFewLengths } from '../../../database/few-lengths.ts';
import { beyond, placedPage, sliceOf } from '../../../database/sorted-page.ts';
import type { Tables } from '../../../database/tables.ts';
import type { PlacedPage, SortedRequest } from '../../../lib/page.ts';
import { installsOfSites } from '../installs/store.ts';
import { joinedKeys, tagsIn } from '../site-tags/tag-keys.ts';
import { countsOfTag, hasTags, sitesWithTag } from '../site-tags/tagged-store.ts';

export interface SiteRow {
  id: string;
  name: string;
  account_id: string;
  /** For experiments; cannot be transferred. */
  sandbox: boolean;
  /** Built to be handed over to another account. */
  transferable: boolean;
  /** In the order of their keys (site-tags/tag-keys.ts). */
  tags: string[];
  created_at: string;
}

/** Fields of a site that users change. */
export type SiteSettings = Pick<SiteRow, 'name' | 'sandbox' | 'transferable' | 'tags'>;

const COLUMNS = [
  'site.id',
  'site.name',
  'site.account_id',
  'site.sandbox',
  'site.transferable',
  'site.tags',
  'site.created_at',
] as const;

/** The names of an account's sites, for the operator. */
export function sitesOfAccount(queries: Queries, accountId: string): Promise<{ id: string; name: string }[]> {
  return queries.selectFrom('sites').select(['id', 'name']).where('account_id', '=', accountId).execute();
}

/** A site with the caller's access to it. Partial users own the sites that contain an install they see. */
export async function findSite(
  queries: Queries,
  caller: Caller,
  siteId: string,
): Promise<(SiteRow & ResourceAccess) | undefined> {
  const row = await queries
    .selectFrom('sites as site')
    .leftJoin('memberships as member', (join) =>
      join.onRef('member.account_id', '=', 'site.account_id').on('member.user_id', '=', caller.userId),
    )
    .select([...COLUMNS, 'member.role', 'member.invite_accepted'])
    .where('site.id', '=', siteId)
    .executeTakeFirst();
  if (!row) return undefined;
  const tags = tagsIn(row.tags);
  if (caller.isOperator) return { ...row, tags, role: 'owner', own: false };
  const counts = row.invite_accepted === true || countsOpenInvitations(caller);
  const role = limitedRole(caller.limits, counts ? row.role : null, row.account_id);
  // Members of the whole account see every site in it.
  if (role !== 'partial') return { ...row, tags, role, own: false };
  const scope = await loadScope(queries, caller, row.account_id);
  return { ...row, tags, role, own: (await installsOfSites(queries, scope, [siteId])).length > 0 };
}

/** The installs of a scope that belong to a site. */
export const installsInSites = (queries: Queries, scope: Scope) =>
  queries
    .selectFrom('installs as install')
    .where((eb) => inScope(eb, scope))
    .where('install.site_id', 'is not', null);

/** A scope shows all sites of whole accounts, and elsewhere those that contain an install in scope. */
function partsOf(scope: Scope): { whole: Membership[]; byInstalls: Scope | null } {
  if (scope.installIds !== null) return { whole: [], byInstalls: scope };
  return { whole: scope.whole, byInstalls: scope.partial.length > 0 ? { ...scope, whole: [] } : null };
}

/** Conditions that a list of sites must meet. */
export interface SiteFilters {
  name?: string;
  /** Keys of tags, separated by commas: the site has all of them. */
  tags?: string;
}

type SiteExpressions = ExpressionBuilder<Tables & { site: Tables['sites'] }, 'site'>;

/** The sites that a scope shows. */
export function shownSites(queries: Queries, eb: SiteExpressions, scope: Scope) {
  const { whole, byInstalls } = partsOf(scope);
  const shown = [];
  if (whole.length > 0) {
    shown.push(
      eb(
        'site.account_id',
        'in',
        whole.map((membership) => membership.account_id),
      ),
    );
  }
  if (byInstalls) {
    shown.push(eb('site.id', 'in', installsInSites(queries, byInstalls).select('install.site_id')));
  }
  return eb.or(shown);
}

function matching(queries: Queries, eb: SiteExpressions, scope: Scope, { name, tags }: SiteFilters) {
  return eb.and([
    shownSites(queries, eb, scope),
    ...(name === undefined ? [] : [eb('site.name', '=', name)]),
    ...(tags === undefined ? [] : [hasTags(sql.ref('site.id'), tags)]),
  ]);
}

/** The ids of whole accounts, whose sites with a tag an index has; null if the filter has no tags, or the scope other parts. */
function accountsByTag(scope: Scope, { tags }: SiteFilters): string[] | null {
  const { whole, byInstalls } = partsOf(scope);
  return tags === undefined || byInstalls !== null ? null : whole.map((membership) => membership.account_id);
}

/**
 * The sites of a list. Those with a tag, if they are few, are read first and then sorted: so few that it takes no longer than a page in the
 * order of an index.
 */
function listed(
  queries: Queries,
  scope: Scope,
  filters: SiteFilters,
  { limit, count }: { limit: number; count: number },
) {
  const accountIds = accountsByTag(scope, filters);
  const all = scope.whole.reduce((sum, membership) => sum + membership.site_count, 0);
  if (accountIds === null || count * count > all * limit) {
    return queries.selectFrom('sites as site').where((eb) => matching(queries, eb, scope, filters));
  }
  return queries
    .with(
      (name) => name('few').materialized(),
      (few) =>
        few
          .selectFrom('sites as site')
          .selectAll('site')
          .where('site.id', 'in', sitesWithTag(queries, accountIds, filters.tags ?? '')),
    )
    .selectFrom('few as site')
    .where((eb) => matching(queries, eb, scope, filters));
}

/** The columns by which the list can be sorted. */
export type SiteSort = 'name' | 'created_at';

/** A page of the sites in a scope. The offset is applied in an index. */
export async function pageOfSites(
  queries: Queries,
  scope: Scope,
  page: SortedRequest<SiteSort>,
  filters: SiteFilters,
  count: number,
): Promise<PlacedPage<SiteRow>> {
  const { key } = page.sort;
  const { whole, byInstalls } = partsOf(scope);
  const isStored = byInstalls === null && Object.keys(filters).length === 0;
  const slice = sliceOf(page, isStored ? { sql: storedCount(whole), estimate: count } : null);
  const column = key === null ? null : (`site.${key}` as const);
  const position = page.cursor?.position ?? null;
  const rows = await queries
    .selectFrom('sites as site')
    .select([...COLUMNS, 'site.seq'])
    .where(
      'site.seq',
      'in',
      listed(queries, scope, filters, { limit: page.limit, count })
        .select('site.seq')
        .$if(position !== null, (query) =>
          position === null ? query : query.where(beyond(column, 'site.seq', position, slice)),
        )
        .$if(column !== null, (query) => (column === null ? query : query.orderBy(column, slice.direction)))
        .orderBy('site.seq', slice.direction)
        .limit(slice.limit)
        .offset(slice.offset),
    )
    .$if(column !== null, (query) => (column === null ? query : query.orderBy(column, slice.direction)))
    .orderBy('site.seq', slice.direction)
    .execute();
  const sites = rows.map((row) => ({ ...row, tags: tagsIn(row.tags) }));
  return placedPage(sites, count, page, slice, (row) => (key === null ? '' : row[key]));
}

function storedCount(whole: readonly Membership[]) {
  const ids = whole.map((membership) => membership.account_id);
  return sql<number>`(select cast(coalesce(sum(site_count), 0) as bigint) from accounts where id in (${sql.join(ids)}))`;
}

/** The number of sites in a scope that match. Whole accounts store theirs. */
export async function countSites(queries: Queries, scope: Scope, filters: SiteFilters): Promise<number> {
  const { whole, byInstalls } = partsOf(scope);
  if (byInstalls === null && Object.keys(filters).length === 0) {
    return whole.reduce((sum, membership) => sum + membership.site_count, 0);
  }
  const accountIds = accountsByTag(scope, filters);
  const { tags = '', ...others } = filters;
  const tagged =
    accountIds !== null && Object.keys(others).length === 0
      ? await countsOfTag(queries, accountIds, tags)
      : null;
  if (tagged !== null) return tagged.sites;
  const { count } = await listed(queries, scope, filters, { limit: 1, count: 0 })
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return count;
}

/** The ids of one page of all sites of an account, by the number of their installs, and the oldest first. */
export async function sitesBySize(
  queries: Queries,
  accountId: string,
  { isDescending, limit, offset }: { isDescending: boolean; limit: number; offset: number },
): Promise<string[]> {
  const direction = isDescending ? 'desc' : 'asc';
  const rows = await queries
    .selectFrom('site_sizes')
    .select('site_id')
    .where('account_id', '=', accountId)
    .orderBy('installs', direction)
    .orderBy('seq', direction)
    .limit(limit)
    .offset(offset)
    .execute();
  return rows.map(({ site_id }) => site_id);
}

/** The number of installs in each of these sites of whole accounts. */
export async function sizesOfSites(queries: Queries, ids: readonly string[]): Promise<Map<string, number>> {
  if (ids.length === 0) return new Map();
  const rows = await queries
    .selectFrom('site_sizes')
    .select(['site_id', 'installs'])
    .where('site_id', 'in', ofFewLengths(ids))
    .execute();
  return new Map(rows.map(({ site_id, installs }) => [site_id, installs]));
}

async function sitesById(queries: Queries, ids: readonly string[]) {
  if (ids.length === 0) return [];
  const rows = await queries
    .selectFrom('sites as site')
    .select([...COLUMNS, 'site.seq'])
    .where('site.id', 'in', ofFewLengths(ids))
    .execute();
  return rows.map((row) => ({ ...row, tags: tagsIn(row.tags) }));
}

/** Those of these sites that are of whole accounts of a scope, the oldest first. */
export async function sitesOfScope(
  queries: Queries,
  { whole }: Scope,
  ids: readonly string[],
): Promise<SiteRow[]> {
  const accountIds = new Set(whole.map((membership) => membership.account_id));
  const sites = await sitesById(queries, ids);
  return sites
    .filter(({ account_id }) => accountIds.has(account_id))
    .sort((one, other) => one.seq - other.seq);
}

/** These sites, in their order. */
export async function sitesInOrder(queries: Queries, ids: readonly string[]): Promise<SiteRow[]> {
  const byId = new Map((await sitesById(queries, ids)).map((site) => [site.id, site]));
  return ids.flatMap((id) => [byId.get(id)].filter((row) => row !== undefined));
}

const storedTags = (tags: readonly string[]) => ({ tags: JSON.stringify(tags), tag_keys: joinedKeys(tags) });

export async function insertSite(queries: Queries, site: SiteRow): Promise<void> {
  await queries
    .insertInto('sites')
    .values({ ...site, ...storedTags(site.tags) })
    .execute();
}

export async function updateSite(queries: Queries, id: string, settings: SiteSettings): Promise<void> {
  await queries
    .updateTable('sites')
    .set({ ...settings, ...storedTags(settings.tags) })
    .where('id', '=', id)
    .execute();
}

export async function deleteSite(queries: Queries, id: string): Promise<void> {
  await queries.deleteFrom('sites').where('id', '=', id).execute();
}

/** Changes the stored site count of an account. */
export async function addToSiteCount(queries: Queries, accountId: string, difference: number): Promise<void> {
  await queries
    .updateTable('accounts')
    .set((eb) => ({ site_count: eb('site_count', '+', difference) }))
    .where('id', '=', accountId)
    .execute();
}
