import type { Queries, Transaction } from '../../../database/database.ts';
import { joinedKeys, tagsIn } from './tag-keys.ts';
import { sitesWithTag } from './tagged-store.ts';

/** A site with its tags, held until its transaction ends. */
export interface TaggedSite {
  id: string;
  name: string;
  tags: string[];
}

const hold = (transaction: Transaction, accountId: string) => {
  const query = transaction.queries
    .selectFrom('sites')
    .select(['id', 'name', 'tags'])
    .where('account_id', '=', accountId)
    // Always in this order, so that two changes cannot wait for each other.
    .orderBy('seq');
  return transaction.dialect === 'postgres' ? query.forNoKeyUpdate() : query;
};

const parsed = (rows: readonly { id: string; name: string; tags: unknown }[]): TaggedSite[] =>
  rows.map(({ id, name, tags }) => ({ id, name, tags: tagsIn(tags) }));

/** Locks the sites of an account that have a tag. */
export async function holdSitesWithTag(
  transaction: Transaction,
  accountId: string,
  key: string,
): Promise<TaggedSite[]> {
  return parsed(
    await hold(transaction, accountId)
      .where('id', 'in', sitesWithTag(transaction.queries, [accountId], key))
      .execute(),
  );
}

/** Locks these sites of an account. Others are left out. */
export async function holdSites(
  transaction: Transaction,
  accountId: string,
  ids: readonly string[],
): Promise<TaggedSite[]> {
  return ids.length === 0 ? [] : parsed(await hold(transaction, accountId).where('id', 'in', ids).execute());
}

/** The sites of these installs of an account, by the ID of the install; null without a site. */
export async function sitesOfInstalls(
  queries: Queries,
  accountId: string,
  installIds: readonly string[],
): Promise<Map<string, string | null>> {
  if (installIds.length === 0) return new Map();
  const rows = await queries
    .selectFrom('installs')
    .select(['id', 'site_id'])
    .where('account_id', '=', accountId)
    .where('id', 'in', installIds)
    .execute();
  return new Map(rows.map(({ id, site_id }) => [id, site_id]));
}

export async function setTags(queries: Queries, siteId: string, tags: readonly string[]): Promise<void> {
  await queries
    .updateTable('sites')
    .set({ tags: JSON.stringify(tags), tag_keys: joinedKeys(tags) })
    .where('id', '=', siteId)
    .execute();
}

/** The tags of all sites of an account, each once, except those that one site alone has. */
export async function tagsOfAccount(queries: Queries, accountId: string, except?: string): Promise<string[]> {
  const rows = await queries
    .selectFrom('tag_counts as counted')
    .select('counted.tag')
    .where('counted.account_id', '=', accountId)
    .$if(except !== undefined, (query) =>
      query.where(({ not, and, eb, exists, selectFrom }) =>
        not(
          and([
            eb('counted.sites', '=', 1),
            exists(
              selectFrom('site_tags as own')
                .select('own.site_id')
                .where('own.site_id', '=', except ?? '')
                .whereRef('own.key', '=', 'counted.key'),
            ),
          ]),
        ),
      ),
    )
    .execute();
  return rows.map(({ tag }) => tag);
}
