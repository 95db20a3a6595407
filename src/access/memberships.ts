import type { Queries } from '../database/database.ts';
import type { Role } from './roles.ts';

/** One account that a person is a member of, with the counts that lists answer with. */
export interface Membership {
  account_id: string;
  role: Role;
  billing: boolean;
  site_count: number;
  install_count: number;
}

/** What a list may show: everything of some accounts, and in others what was given to the person. */
export interface Scope {
  userId: string;
  /** Accounts in which the person sees everything. */
  whole: Membership[];
  /** Accounts in which the person sees what was given to them. */
  partial: Membership[];
}

/** The accounts that a person may see, or the one of them that `accountId` names. */
export async function loadScope(queries: Queries, userId: string, accountId?: string): Promise<Scope> {
  let query = queries
    .selectFrom('memberships as member')
    .innerJoin('accounts as account', 'account.id', 'member.account_id')
    .select([
      'member.account_id',
      'member.role',
      'member.billing',
      'account.site_count',
      'account.install_count',
    ])
    .where('member.user_id', '=', userId);
  if (accountId !== undefined) query = query.where('member.account_id', '=', accountId);
  const memberships = await query.execute();
  return {
    userId,
    whole: memberships.filter((membership) => membership.role !== 'partial'),
    partial: memberships.filter((membership) => membership.role === 'partial'),
  };
}

/** The person's role in one account, or undefined. */
export async function findMembership(
  queries: Queries,
  userId: string,
  accountId: string,
): Promise<{ role: Role; billing: boolean } | undefined> {
  return queries
    .selectFrom('memberships')
    .select(['role', 'billing'])
    .where('user_id', '=', userId)
    .where('account_id', '=', accountId)
    .executeTakeFirst();
}
