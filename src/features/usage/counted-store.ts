import { sql } from 'kysely';
import { inScope } from '../../access/memberships.ts';
import type { Queries } from '../../database/database.ts';
import type { Environment } from '../../database/tables/installs.ts';
import { hasWithoutIndex } from '../../database/without-index.ts';
import { hasStoredCounts, storedCount } from '../websites/installs/counts-store.ts';
import { countInstalls, installsMatching } from '../websites/installs/list-store.ts';
import type { DayRange } from './days.ts';
import type { UsageScope } from './store.ts';

/** Kinds of sites, for insights. */
export const SITE_TYPES = ['standard', 'transferable', 'sandbox'] as const;
export type SiteType = (typeof SITE_TYPES)[number];

/** An install of an account's usage. */
export interface Counted {
  id: string;
  name: string;
  environment: Environment | null;
}

export const STANDARD = sql<SiteType>`cast('standard' as text)`.as('site_type');
/** Of the joined `site`; an install without a site is standard. */
export const SITE_TYPE =
  sql<SiteType>`cast(case when site.sandbox then 'sandbox' when site.transferable then 'transferable' else 'standard' end as text)`.as(
    'site_type',
  );

/** The present installs of an account's usage, or those of a list. */
const presentInstalls = (
  queries: Queries,
  { accountId, scope }: UsageScope,
  installs: ReturnType<typeof installsMatching> = queries
    .selectFrom('installs as install')
    .where((eb) => inScope(eb, scope)),
) =>
  installs
    .select(['install.id', 'install.name', 'install.environment'])
    .where('install.account_id', '=', accountId);

/** The installs that an account had, and that have traffic in the range there. */
const formerInstalls = (queries: Queries, { accountId }: UsageScope, { first, last }: DayRange) =>
  queries
    .selectFrom('usage_former_installs as former')
    .innerJoin('usage_installs as gone', 'gone.install_id', 'former.install_id')
    .select(['gone.install_id as id', 'gone.name', 'gone.environment'])
    .where('former.account_id', '=', accountId)
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('usage_traffic as traffic')
          .select('traffic.install_id')
          .whereRef('traffic.install_id', '=', 'former.install_id')
          // The index of accounts has all days of the account.
          .where(hasWithoutIndex('traffic.account_id', accountId))
          .where('traffic.day', '>=', first)
          .where('traffic.day', '<=', last),
      ),
    );

/** A page of the installs of an account's usage, and their number; with keys of tags, of those whose site has all of them. */
export async function pageOfCounted(
  queries: Queries,
  of: UsageScope,
  range: DayRange,
  page: { limit: number; offset: number },
  tags?: string,
): Promise<{ count: number; installs: Counted[] }> {
  const tagged = tags === undefined ? null : await countInstalls(queries, of.scope, { tags });
  const counting =
    tagged ??
    (hasStoredCounts(of.scope)
      ? storedCount(queries, of.scope, {})
      : countOf(queries, presentInstalls(queries, of)));
  const listed =
    tags === undefined || tagged === null
      ? undefined
      : installsMatching(queries, of.scope, { tags }, { limit: page.limit, count: tagged });
  // Former installs have no site, and so no tags.
  const former =
    of.isWhole && tags === undefined
      ? await formerInstalls(queries, of, range).orderBy('gone.name').execute()
      : [];
  // Each of them moves a present one by a place at most. So databases read the present ones of a page in the order of an index.
  const skipped = Math.max(0, page.offset - former.length);
  const [count, present] = await Promise.all([
    counting,
    presentInstalls(queries, of, listed)
      .orderBy('install.name')
      .limit(page.offset - skipped + page.limit)
      .offset(skipped)
      .execute(),
  ]);
  return { count: count + former.length, installs: pageOfBoth(present, former, { ...page, skipped }) };
}

/**
 * A page of two lists together, by name. `all` is one of the lists; of the other, the first `skipped` items are left out before `part`.
 */
export function pageOfBoth<Item extends { id: string; name: string }>(
  part: readonly Item[],
  all: readonly Item[],
  { limit, offset, skipped }: { limit: number; offset: number; skipped: number },
): Item[] {
  const [first] = part;
  if (skipped > 0 && first === undefined) return [];
  const later = skipped === 0 || first === undefined ? all : all.filter((one) => byName(first, one) < 0);
  const from = offset - skipped - (all.length - later.length);
  return [...part, ...later].sort(byName).slice(from, from + limit);
}

const byName = (one: { id: string; name: string }, other: { id: string; name: string }): number =>
  one.name === other.name ? compare(one.id, other.id) : compare(one.name, other.name);

const compare = (one: string, other: string): number => (one < other ? -1 : Number(one > other));

async function countOf(queries: Queries, installs: ReturnType<typeof presentInstalls>): Promise<number> {
  const { count } = await queries
    .selectFrom(installs.as('counted'))
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return count;
}
