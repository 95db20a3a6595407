import type { Scope } from '../../../access/memberships.ts';
import type { Queries } from '../../../database/database.ts';
import { numberOrderKey } from '../../../lib/number-order.ts';
import type { InstallConditions, ListSort } from './install-conditions.ts';
import { countListed } from './listed-conditions-store.ts';
import { domainsOfListed, type ListedRow, listedByIds, namesOfListed } from './listed-installs-store.ts';
import { orderedIds } from './listed-orders-store.ts';

/** The requested part of a list of installs. */
interface Part {
  sort: ListSort;
  isDescending: boolean;
  limit: number;
  offset: number;
}

/** In longer lists, names are in the order of the database, which finds a page in an index: shop-10 before shop-2. */
export const MOST_SORTED = 10_000;

/** One page of the installs of a scope that match, and the number of all that match. */
export async function pageOfListed(
  queries: Queries,
  scope: Scope,
  conditions: InstallConditions,
  { sort, ...part }: Part,
): Promise<{ count: number; rows: ListedRow[] }> {
  const count = await countListed(queries, scope, conditions);
  const listing = { scope, conditions, limit: part.limit, count };
  if ((sort !== 'domain' && sort !== 'name') || count > MOST_SORTED) {
    return { count, rows: await listedByIds(queries, await orderedIds(queries, listing, sort, part)) };
  }
  const texts = sort === 'name' ? namesOfListed : domainsOfListed;
  const named = await texts(queries, listing, MOST_SORTED);
  return { count: named.length, rows: await listedByIds(queries, pageByText(named, part)) };
}

/** The ids of one page. Numbers in texts are sorted by their value, and texts that differ by zeros alone as they are. */
function pageByText(
  named: readonly { id: string; text: string }[],
  { isDescending, limit, offset }: Omit<Part, 'sort'>,
): string[] {
  const ordered = named
    .map(({ id, text }) => ({ id, key: `${numberOrderKey(text)}\n${text}` }))
    .sort((one, other) => (one.key < other.key ? -1 : Number(one.key > other.key)));
  return (isDescending ? ordered.reverse() : ordered).slice(offset, offset + limit).map(({ id }) => id);
}
