import type { Queries } from '../../database/database.ts';
import type { AccountLimits } from './limits-store.ts';

export interface LimitedAccount extends AccountLimits {
  id: string;
  name: string;
}

/** The accounts with at least one limit. */
export async function accountsWithLimits(queries: Queries): Promise<LimitedAccount[]> {
  return queries
    .selectFrom('account_limits as limits')
    .innerJoin('accounts as account', 'account.id', 'limits.account_id')
    .select(['account.id', 'account.name', 'limits.visitors', 'limits.storage', 'limits.bandwidth'])
    .where(({ or, eb }) =>
      or([
        eb('limits.visitors', 'is not', null),
        eb('limits.storage', 'is not', null),
        eb('limits.bandwidth', 'is not', null),
      ]),
    )
    .execute();
}

export interface LimitWarningKey {
  account_id: string;
  limited: keyof AccountLimits;
  threshold: number;
  month: string;
}

/** Records a warning. Returns false if it was recorded before. */
export async function recordWarning(queries: Queries, key: LimitWarningKey, now: string): Promise<boolean> {
  const inserted = await queries
    .insertInto('limit_warnings')
    .values({ ...key, created_at: now })
    .onConflict((conflict) => conflict.columns(['account_id', 'limited', 'threshold', 'month']).doNothing())
    .returning('month')
    .executeTakeFirst();
  return inserted !== undefined;
}
