import { sql } from 'kysely';
import type { Queries } from '../../../database/database.ts';
import { tagsIn } from '../site-tags/tag-keys.ts';
import { hasTags } from '../site-tags/tagged-store.ts';

/** For the command line: the sites of the platform by name, or those of an account or with a tag alone. */
export async function everySite(
  queries: Queries,
  { accountId, key }: { accountId: string | null; key: string | null },
) {
  const rows = await queries
    .selectFrom('sites as site')
    .innerJoin('accounts as account', 'account.id', 'site.account_id')
    .select(['site.id', 'site.name', 'site.tags', 'site.created_at', 'account.id as account_id'])
    .select('account.name as account_name')
    .$if(accountId !== null, (query) => query.where('site.account_id', '=', accountId ?? ''))
    .$if(key !== null, (query) => query.where(hasTags(sql.ref('site.id'), key ?? '')))
    .orderBy('site.name')
    .orderBy('site.seq')
    .execute();
  return rows.map(({ account_id, account_name, tags, ...site }) => ({
    ...site,
    tags: tagsIn(tags),
    account: { id: account_id, name: account_name },
  }));
}
