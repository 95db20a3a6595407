import type { ExpressionBuilder } from 'kysely';
import type { Queries } from '../database/database.ts';
import type { Tables } from '../database/tables.ts';
import type { Role } from '../lib/roles.ts';
import { type Caller, countsOpenInvitations } from './caller.ts';
import { limitedRole } from './limits.ts';

/** A membership, with the site and install counts of its account for paged lists. */
export interface Membership {
  account_id: string;
  role: Role;
  billing: boolean;
  site_count: number;
  install_count: number;
}

/** The accounts and installs that a caller may list. */
export interface Scope {
  userId: string;
  /** Accounts in which the user sees everything. */
  whole: Membership[];
  /** Accounts in which the user sees only the installs granted to them. */
  partial: Membership[];
  /** The installs that the caller's credential is limited to; null: no limit. */
  installIds: readonly string[] | null;
}

/** Loads a caller's scope: all their accounts, or `accountId` alone. */
export async function loadScope(queries: Queries, caller: Caller, accountId?: string): Promise<Scope> {
  const { userId, limits } = caller;
  if (caller.isOperator)
    return { userId, whole: await ownedAccounts(queries, accountId), partial: [], installIds: null };
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

/** The accounts of the operator, as an owner's: all of them, or `accountId` alone. */
async function ownedAccounts(queries: Queries, accountId: string | undefined): Promise<Membership[]> {
  let query = queries
    .selectFrom('accounts as account')
    .select(['account.id as account_id', 'account.site_count', 'account.install_count']);
  if (accountId !== undefined) query = query.where('account.id', '=', accountId);
  return (await query.execute()).map((account) => ({ ...account, role: 'owner', billing: true }));
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
  if (caller.isOperator) {
    const [owned] = await ownedAccounts(queries, accountId);
    return owned;
  }
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
