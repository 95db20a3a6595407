import { type Caller, countsOpenInvitations } from '../../../access/caller.ts';
import { limitedRole } from '../../../access/limits.ts';
import { inScope, loadScope, type Membership, type Scope } from '../../../access/memberships.ts';
import type { ResourceAccess } from '../../../access/permissions.ts';
import type { Queries } from '../../../database/database.ts';
import type { PageRequest } from '../../../lib/page.ts';
import { installsOfSites } from '../installs/store.ts';

export interface SiteRow {
  id: string;
  name: string;
  account_id: string;
  /** For experiments; cannot be transferred. */
  sandbox: boolean;
  /** Built to be handed over to another account. */
  transferable: boolean;
  created_at: string;
}

/** What users change of a site. */
export type SiteSettings = Pick<SiteRow, 'name' | 'sandbox' | 'transferable'>;

const COLUMNS = [
  'site.id',
  'site.name',
  'site.account_id',
  'site.sandbox',
  'site.transferable',
  'site.created_at',
] as const;

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
  const counts = row.invite_accepted === true || countsOpenInvitations(caller);
  const role = limitedRole(caller.limits, counts ? row.role : null, row.account_id);
  // Members of the whole account see every site in it.
  if (role !== 'partial') return { ...row, role, own: false };
  const scope = await loadScope(queries, caller, row.account_id);
  return { ...row, role, own: (await installsOfSites(queries, scope, [siteId])).length > 0 };
}

/** The installs of a scope that belong to a site. */
const installsInSites = (queries: Queries, scope: Scope) =>
  queries
    .selectFrom('installs as install')
    .where((eb) => inScope(eb, scope))
    .where('install.site_id', 'is not', null);

/** A scope shows all sites of whole accounts, and elsewhere those that contain an install in scope. */
function partsOf(scope: Scope): { whole: Membership[]; byInstalls: Scope | null } {
  if (scope.installIds !== null) return { whole: [], byInstalls: scope };
  return { whole: scope.whole, byInstalls: scope.partial.length > 0 ? { ...scope, whole: [] } : null };
}

/** A page in order of creation. The offset is applied in an index. */
export async function pageOfSites(queries: Queries, scope: Scope, page: PageRequest): Promise<SiteRow[]> {
  const { whole, byInstalls } = partsOf(scope);
  return queries
    .selectFrom('sites as site')
    .select([...COLUMNS])
    .where('site.seq', 'in', (eb) =>
      eb
        .selectFrom('sites as site')
        .select('site.seq')
        .where((inner) => {
          const shown = [];
          if (whole.length > 0) {
            shown.push(
              inner(
                'site.account_id',
                'in',
                whole.map((membership) => membership.account_id),
              ),
            );
          }
          if (byInstalls) {
            const sites = installsInSites(queries, byInstalls).select('install.site_id');
            shown.push(inner('site.id', 'in', sites));
          }
          return inner.or(shown);
        })
        .orderBy('site.seq')
        .limit(page.limit)
        .offset(page.offset),
    )
    .orderBy('site.seq')
    .execute();
}

export async function countSites(queries: Queries, scope: Scope): Promise<number> {
  const { whole, byInstalls } = partsOf(scope);
  const counted = whole.reduce((sum, membership) => sum + membership.site_count, 0);
  if (!byInstalls) return counted;
  const { count } = await installsInSites(queries, byInstalls)
    .select((eb) => eb.fn.count<number>('install.site_id').distinct().as('count'))
    .executeTakeFirstOrThrow();
  return counted + count;
}

export async function insertSite(queries: Queries, site: SiteRow): Promise<void> {
  await queries.insertInto('sites').values(site).execute();
}

export async function updateSite(queries: Queries, id: string, settings: SiteSettings): Promise<void> {
  await queries.updateTable('sites').set(settings).where('id', '=', id).execute();
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
