import { sql } from 'kysely';
import type { Scope } from '../../../access/memberships.ts';
import { MOST_COUNTED } from '../../../database/bounded-page.ts';
import type { Queries } from '../../../database/database.ts';
import type { InTurn } from '../../../platform/long-reads.ts';
import { hasStoredCounts } from '../installs/counts-store.ts';
import { hasTags } from '../site-tags/tagged-store.ts';
import type { InstallConditions } from './install-conditions.ts';
import { meeting } from './listed-conditions-store.ts';

// No index finds a part of a name. In large accounts all names are compared in parts, and other requests are answered in between. So this
// cannot be done in a snapshot, which other reads wait for.

/** Rows whose names are compared at once, in some milliseconds. */
const LENGTH = 1_000;

/** Whether comparing all names takes so long that other requests would wait. */
export const isSearchedInParts = (scope: Scope, { texts }: InstallConditions): boolean =>
  texts.length > 0 &&
  hasStoredCounts(scope) &&
  scope.whole.reduce((sum, { install_count, site_count }) => sum + install_count + site_count, 0) >
    MOST_COUNTED;

/** The installs of whole accounts that match, with their sites; the oldest, at most {@link MOST_COUNTED}. */
export async function searchInstalls(
  queries: Queries,
  scope: Scope,
  conditions: InstallConditions,
  inTurn: InTurn,
): Promise<{ id: string; site_id: string | null }[]> {
  const found: { id: string; site_id: string | null }[] = [];
  for (const { account_id } of scope.whole) {
    for await (const { after, to } of ranges(queries, 'installs', account_id)) {
      await inTurn(async () => {
        const rows = await queries
          .selectFrom('installs as install')
          .select(['install.id', 'install.site_id'])
          .where('install.account_id', '=', account_id)
          .where('install.seq', '>', after)
          .where('install.seq', '<=', to)
          .where((eb) => meeting(eb, conditions))
          .execute();
        found.push(...rows);
      });
      if (found.length >= MOST_COUNTED) return found.slice(0, MOST_COUNTED);
    }
  }
  return found;
}

/** The sites of whole accounts, with these tags, whose name contains a text in lower case; the oldest, at most {@link MOST_COUNTED}. */
export async function searchSites(
  queries: Queries,
  scope: Scope,
  text: string,
  tags: string | undefined,
  inTurn: InTurn,
): Promise<string[]> {
  const found: string[] = [];
  for (const { account_id } of scope.whole) {
    for await (const { after, to } of ranges(queries, 'sites', account_id)) {
      await inTurn(async () => {
        const rows = await queries
          .selectFrom('sites')
          .select(['id', 'name'])
          .where('account_id', '=', account_id)
          .where('seq', '>', after)
          .where('seq', '<=', to)
          .$if(tags !== undefined, (query) => query.where(hasTags(sql.ref('sites.id'), tags ?? '')))
          .execute();
        // SQLite folds case in ASCII only.
        found.push(...rows.filter(({ name }) => name.toLowerCase().includes(text)).map(({ id }) => id));
      });
      if (found.length >= MOST_COUNTED) return found.slice(0, MOST_COUNTED);
    }
  }
  return found;
}

/** All rows of an account in ranges of their `seq`. */
async function* ranges(queries: Queries, table: 'installs' | 'sites', accountId: string) {
  for (let after = 0; ; ) {
    const { to } = await queries
      .selectFrom((eb) =>
        eb
          .selectFrom(table)
          .select('seq')
          .where('account_id', '=', accountId)
          .where('seq', '>', after)
          .orderBy('seq')
          .limit(LENGTH)
          .as('range'),
      )
      .select((eb) => eb.fn.max<number | null>('seq').as('to'))
      .executeTakeFirstOrThrow();
    if (to === null) return;
    yield { after, to };
    after = to;
  }
}
