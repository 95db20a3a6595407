import type { Queries } from '../database/database.ts';
import type { Caller } from './caller.ts';
import { hasLimitedScope } from './limits.ts';

/**
 * Whether the caller is an operator of the platform: the command line, or a user whom that has made one. A credential for one account or for
 * some installs leaves nothing of it.
 */
export async function isOperator(queries: Queries, { isOperator, limits, userId }: Caller): Promise<boolean> {
  if (isOperator === true) return true;
  if (hasLimitedScope(limits)) return false;
  const user = await queries
    .selectFrom('users')
    .select('is_operator')
    .where('id', '=', userId)
    .executeTakeFirst();
  return user?.is_operator === true;
}
