import { type ExpressionBuilder, sql } from 'kysely';
import { inScope, type Scope } from '../../../access/memberships.ts';
import type { Queries } from '../../../database/database.ts';
import { ofFewLengths } from '../../../database/few-lengths.ts';
import type { Tables } from '../../../database/tables.ts';
import { hasWithoutIndex } from '../../../database/without-index.ts';
import { hasStoredCounts, storedCount } from '../installs/counts-store.ts';
import { isFew, isTagged } from '../installs/list-store.ts';
import { countsOfTag, sitesWithTag } from '../site-tags/tagged-store.ts';
import { ATTENTION, type InstallConditions, NONE } from './install-conditions.ts';
import { patternOf } from './search-store.ts';
import { doubted, needsAttention } from './store.ts';

type InstallExpressions = ExpressionBuilder<Tables & { install: Tables['installs'] }, 'install'>;

const accountsOf = ({ whole }: Scope) => whole.map((membership) => membership.account_id);

/** Whether a scope shows an install, and it meets the conditions. */
export const matching = (eb: InstallExpressions, scope: Scope, conditions: InstallConditions) =>
  eb.and([inScope(eb, scope), meeting(eb, conditions)]);

/** Whether an install meets the conditions. No value of it chooses the index from which the list is read. */
export function meeting(eb: InstallExpressions, conditions: InstallConditions) {
  const { texts, status, environment, site, soon, tags } = conditions;
  const found = texts
    .map(patternOf)
    .flatMap((pattern) => [
      sql<boolean>`install.name like ${pattern} escape '\\'`,
      eb.exists(
        eb
          .selectFrom('domains as sought')
          .select('sought.id')
          .whereRef('sought.install_id', '=', 'install.id')
          .where(sql<boolean>`sought.name like ${pattern} escape '\\'`),
      ),
    ]);
  return eb.and([
    ...(found.length === 0 ? [] : [eb.or(found)]),
    ...(status === undefined
      ? []
      : [status === ATTENTION ? needsAttention(eb, soon) : hasWithoutIndex('install.status', status)]),
    ...(environment === undefined
      ? []
      : [hasWithoutIndex('install.environment', environment === NONE ? null : environment)]),
    ...(site === undefined ? [] : [hasWithoutIndex('install.site_id', site === NONE ? null : site)]),
    ...(tags === undefined ? [] : [isTagged(eb, tags)]),
  ]);
}

/** A list with the number of its installs, if it is known. */
export interface Listing {
  scope: Scope;
  conditions: InstallConditions;
  /** Items of a page. */
  limit: number;
  /** Null while they are counted. */
  count: number | null;
}

/**
 * The installs that match, and others among them: read first and sorted afterwards, because they are few and an index has them. Null if the
 * list is read in the order of an index. With as many as the root of all installs times the page, both take as long.
 */
function fewOf(queries: Queries, { scope, conditions, limit, count }: Listing) {
  const { status, environment, site, soon, tags, found } = conditions;
  // Partial users see few installs.
  if (!hasStoredCounts(scope)) return null;
  const installs = queries.selectFrom('installs as install').selectAll('install');
  if (found !== undefined) {
    return found.length === 0
      ? installs.where((eb) => eb.lit(false))
      : installs.where('install.id', 'in', ofFewLengths(found));
  }
  const ofAccounts = installs.where('install.account_id', 'in', accountsOf(scope));
  if (site !== undefined && site !== NONE) return installs.where('install.site_id', '=', site);
  if (status === ATTENTION) return installs.where('install.id', 'in', doubted(queries, soon));
  if (count !== null && !isFew(scope, limit, count)) return null;
  if (tags !== undefined)
    return installs.where('install.site_id', 'in', sitesWithTag(queries, accountsOf(scope), tags));
  if (site === NONE) return ofAccounts.where('install.site_id', 'is', null);
  if (count === null || (status === undefined && environment === undefined)) return null;
  return ofAccounts
    .$if(status !== undefined, (query) =>
      query.where((eb) => eb(sql<string>`install.status`, '=', status ?? '')),
    )
    .$if(environment !== undefined, (query) =>
      environment === NONE
        ? query.where('install.environment', 'is', null)
        : query.where((eb) => eb(sql<string>`install.environment`, '=', environment ?? '')),
    );
}

/** The installs of a list. */
export function listed(queries: Queries, listing: Listing) {
  const { scope, conditions } = listing;
  const few = fewOf(queries, listing);
  return few === null
    ? queries.selectFrom('installs as install').where((eb) => matching(eb, scope, conditions))
    : queries
        .with(
          (name) => name('few').materialized(),
          () => few,
        )
        .selectFrom('few as install')
        .where((eb) => matching(eb, scope, conditions));
}

/** Whether the list is of whole accounts, and read in the order of an index. */
export const isInOrder = (queries: Queries, listing: Listing): boolean =>
  hasStoredCounts(listing.scope) && fewOf(queries, listing) === null;

/** The installs that need attention and match. */
export function listedInNeed(queries: Queries, { scope, conditions }: Listing) {
  return queries
    .with(
      (name) => name('few').materialized(),
      (few) =>
        few
          .selectFrom('installs as install')
          .selectAll('install')
          .where('install.id', 'in', doubted(queries, conditions.soon)),
    )
    .selectFrom('few as install')
    .where((eb) => eb.and([matching(eb, scope, conditions), needsAttention(eb, conditions.soon)]));
}

/** The values by which stored counts know the installs that match; null if they do not. */
function countedValues(scope: Scope, { texts, status, environment, site, tags }: InstallConditions) {
  if (!hasStoredCounts(scope) || status === ATTENTION || texts.length > 0) return null;
  if (site !== undefined || tags !== undefined) return null;
  return {
    ...(status === undefined ? {} : { status }),
    ...(environment === undefined ? {} : { environment: environment === NONE ? null : environment }),
  };
}

/** The stored number of installs with a tag, if that is the only condition; else null. */
function countTagged(queries: Queries, scope: Scope, conditions: InstallConditions) {
  const { texts, status, environment, site, tags } = conditions;
  const isAlone =
    texts.length === 0 && status === undefined && environment === undefined && site === undefined;
  return tags !== undefined && isAlone && hasStoredCounts(scope)
    ? countsOfTag(queries, accountsOf(scope), tags)
    : null;
}

/** The number of installs that match. Whole accounts store it for most conditions. */
export async function countListed(
  queries: Queries,
  scope: Scope,
  conditions: InstallConditions,
): Promise<number> {
  const stored = countedValues(scope, conditions);
  if (stored !== null) return storedCount(queries, scope, stored);
  const tagged = await countTagged(queries, scope, conditions);
  if (tagged !== null) return tagged.installs;
  const { count } = await listed(queries, { scope, conditions, limit: 1, count: null })
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return count;
}
