import type { ExpressionBuilder } from 'kysely';
import type { Queries } from '../database/database.ts';
import type { Tables } from '../database/tables.ts';
import type { Role } from '../lib/roles.ts';
import { type Caller, countsOpenInvitations } from './caller.ts';
import { limitedRole } from './limits.ts';

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
  /** Of all this, the only installs that the caller's credential shows; null: all of them. */
  installIds: readonly string[] | null;
}

/** The accounts that a caller may see, or the one of them that `accountId` names. */
export async function loadScope(queries: Queries, caller: Caller, accountId?: string): Promise<Scope> {
  const { userId, limits } = caller;
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
  if (!countsOpenInvitations(caller)) query = query.where('member.invite_accepted', '=', true);
  const only = limits?.accountId ?? null;
  if (only !== null) query = query.where('member.account_id', '=', only);
  const memberships = await query.execute();
  return {
    userId,
    whole: memberships.filter((membership) => membership.role !== 'partial'),
    partial: memberships.filter((membership) => membership.role === 'partial'),
    installIds: limits?.installIds ?? null,
  };
}

/** A condition for `installs as install`: the installs that a scope shows. */
export function inScope(
  eb: ExpressionBuilder<Tables & { install: Tables['installs'] }, 'install'>,
  scope: Scope,
) {
  const shown = [];
  if (scope.whole.length > 0) {
    shown.push(
      eb(
        'install.account_id',
        'in',
        scope.whole.map((membership) => membership.account_id),
      ),
    );
  }
  if (scope.partial.length > 0) {
    shown.push(
      eb(
        'install.id',
        'in',
        eb
          .selectFrom('install_grants')
          .select('install_id')
          .where('user_id', '=', scope.userId)
          .where(
            'account_id',
            'in',
            scope.partial.map((membership) => membership.account_id),
          ),
      ),
    );
  }
  const own = eb.or(shown);
  if (scope.installIds === null) return own;
  return scope.installIds.length === 0
    ? eb.lit(false)
    : eb.and([own, eb('install.id', 'in', scope.installIds)]);
}

/** The caller's role in one account, or undefined. */
export async function findMembership(
  queries: Queries,
  caller: Caller,
  accountId: string,
): Promise<{ role: Role; billing: boolean } | undefined> {
  const { userId, limits } = caller;
  const member = await queries
    .selectFrom('memberships')
    .select(['role', 'billing'])
    .where('user_id', '=', userId)
    .where('account_id', '=', accountId)
    .$if(!countsOpenInvitations(caller), (query) => query.where('invite_accepted', '=', true))
    .executeTakeFirst();
  const role = limitedRole(limits, member?.role ?? null, accountId);
  return member && role !== null ? { ...member, role } : undefined;
}
