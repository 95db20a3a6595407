import type { Scope } from '../../../access/memberships.ts';
import type { Queries } from '../../../database/database.ts';
import { numberOrderKey } from '../../../lib/number-order.ts';
import type { InstallConditions, ListSort } from './install-conditions.ts';
import {
  countListed,
  type ListedRow,
  listedByIds,
  listedInstalls,
  namesOfListed,
} from './listed-installs-store.ts';

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
  if (sort === 'domain' || (sort === 'name' && count <= MOST_SORTED))
    return pageByName(queries, scope, conditions, { sort, ...part });
  return { count, rows: await listedInstalls(queries, scope, conditions, { sort, ...part }) };
}

/** Names are sorted here, with numbers by their value. */
async function pageByName(
  queries: Queries,
  scope: Scope,
  conditions: InstallConditions,
  { sort, isDescending, limit, offset }: Part & { sort: 'name' | 'domain' },
): Promise<{ count: number; rows: ListedRow[] }> {
  const names = await namesOfListed(queries, scope, conditions, sort === 'name' ? MOST_SORTED : null);
  const ordered = names
    .map(({ id, name, primary_domain }) => ({
      id,
      key: numberOrderKey(sort === 'name' ? name : (primary_domain ?? name)),
    }))
    .sort((one, other) => (one.key < other.key ? -1 : Number(one.key > other.key)));
  const ids = (isDescending ? ordered.reverse() : ordered).slice(offset, offset + limit).map(({ id }) => id);
  if (ids.length === 0) return { count: names.length, rows: [] };
  const rows = new Map((await listedByIds(queries, scope, conditions, ids)).map((row) => [row.id, row]));
  return {
    count: names.length,
    rows: ids.flatMap((id) => [rows.get(id)].filter((row) => row !== undefined)),
  };
}
