import type { Queries } from '../../../database/database.ts';

/** The rules of an install as the database has them; undefined for the usual ones. */
export function findRules(queries: Queries, installId: string) {
  return queries
    .selectFrom('website_rules')
    .select(['protection', 'sealed_password', 'password_hash', 'redirects', 'cache_rules'])
    .where('install_id', '=', installId)
    .executeTakeFirst();
}

export interface RulesToStore {
  protection: object;
  sealed_password: string | null;
  password_hash: string | null;
  redirects: readonly object[];
  cache_rules: object | null;
}

export async function saveRules(
  queries: Queries,
  installId: string,
  { protection, redirects, cache_rules, ...password }: RulesToStore,
  now: string,
): Promise<void> {
  const rules = {
    ...password,
    protection: JSON.stringify(protection),
    redirects: JSON.stringify(redirects),
    cache_rules: JSON.stringify(cache_rules),
    updated_at: now,
  };
  await queries
    .insertInto('website_rules')
    .values({ install_id: installId, ...rules })
    .onConflict((conflict) => conflict.column('install_id').doUpdateSet(rules))
    .execute();
}
