import type { Scope } from '../../access/memberships.ts';
import type { Standing } from '../../access/permissions.ts';
import type { Queries } from '../../database/database.ts';
import type { PageRequest } from '../../page.ts';

export interface SiteRow {
  id: string;
  name: string;
  account_id: string;
  created_at: string;
}

const COLUMNS = ['site.id', 'site.name', 'site.account_id', 'site.created_at'] as const;

/** The site and how a person stands to it: partial users own the sites that hold an install given to them. */
export async function findSite(
  queries: Queries,
  userId: string,
  siteId: string,
): Promise<(SiteRow & Standing) | undefined> {
  const row = await queries
    .selectFrom('sites as site')
    .leftJoin('memberships as member', (join) =>
      join.onRef('member.account_id', '=', 'site.account_id').on('member.user_id', '=', userId),
    )
    .select([...COLUMNS, 'member.role'])
    .select((eb) =>
      eb
        .selectFrom('install_grants as given')
        .innerJoin('installs as install', 'install.id', 'given.install_id')
        .select('given.install_id')
        .where('given.user_id', '=', userId)
        .whereRef('install.site_id', '=', 'site.id')
        .limit(1)
        .as('granted'),
    )
    .where('site.id', '=', siteId)
    .executeTakeFirst();
  return row && { ...row, own: row.granted !== null };
}

/** The sites that hold installs given to a partial user. */
const givenSites = (queries: Queries, scope: Scope) =>
  queries
    .selectFrom('install_grants as given')
    .innerJoin('installs as install', 'install.id', 'given.install_id')
    .where('given.user_id', '=', scope.userId)
    .where(
      'given.account_id',
      'in',
      scope.partial.map((membership) => membership.account_id),
    )
    .where('install.site_id', 'is not', null);

/** A page in the order of creation; what is skipped is skipped in an index. */
export async function pageOfSites(queries: Queries, scope: Scope, page: PageRequest): Promise<SiteRow[]> {
  return queries
    .selectFrom('sites as site')
    .select([...COLUMNS])
    .where('site.seq', 'in', (eb) =>
      eb
        .selectFrom('sites as site')
        .select('site.seq')
        .where((inner) => {
          const shown = [];
          if (scope.whole.length > 0) {
            shown.push(
              inner(
                'site.account_id',
                'in',
                scope.whole.map((membership) => membership.account_id),
              ),
            );
          }
          if (scope.partial.length > 0) {
            shown.push(inner('site.id', 'in', givenSites(queries, scope).select('install.site_id')));
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
  const whole = scope.whole.reduce((sum, membership) => sum + membership.site_count, 0);
  if (scope.partial.length === 0) return whole;
  const { count } = await givenSites(queries, scope)
    .select((eb) => eb.fn.count<number>('install.site_id').distinct().as('count'))
    .executeTakeFirstOrThrow();
  return whole + count;
}

/** Changes the kept count of an account's sites. */
export async function addToSiteCount(queries: Queries, accountId: string, difference: number): Promise<void> {
  await queries
    .updateTable('accounts')
    .set((eb) => ({ site_count: eb('site_count', '+', difference) }))
    .where('id', '=', accountId)
    .execute();
}
