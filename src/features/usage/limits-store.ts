import type { Queries } from '../../database/database.ts';

/** The limits of an account for each month; null without a limit. Storage and bandwidth are in bytes. */
export interface AccountLimits {
  visitors: number | null;
  storage: number | null;
  bandwidth: number | null;
}

/** An account without a row has no limits. */
export async function findAccountLimits(queries: Queries, accountId: string): Promise<AccountLimits> {
  const row = await queries
    .selectFrom('account_limits')
    .select(['visitors', 'storage', 'bandwidth'])
    .where('account_id', '=', accountId)
    .executeTakeFirst();
  return row ?? { visitors: null, storage: null, bandwidth: null };
}

export async function putAccountLimits(
  queries: Queries,
  accountId: string,
  limits: AccountLimits,
  now: string,
): Promise<void> {
  await queries
    .insertInto('account_limits')
    .values({ account_id: accountId, ...limits, updated_at: now })
    .onConflict((conflict) => conflict.column('account_id').doUpdateSet({ ...limits, updated_at: now }))
    .execute();
}
