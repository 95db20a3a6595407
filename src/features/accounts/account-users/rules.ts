import type { Caller } from '../../../access/caller.ts';
import { findMembership } from '../../../access/memberships.ts';
import { authorize, canManageMember } from '../../../access/permissions.ts';
import type { Queries, Transaction } from '../../../database/database.ts';
import { lockRow } from '../../../database/lock.ts';
import { Forbidden, invalidValue, NotFound, notPermitted } from '../../../lib/failures.ts';
import type { MemberRole } from '../../../lib/roles.ts';
import { findInstallIds, findMembers, findOwners, type MemberRow, type Owner } from './store.ts';

/** Locks the account, so that the count of its owners stays right, and checks that the caller may manage the roles. */
export async function requireManageable(
  transaction: Transaction,
  caller: Caller,
  accountId: string,
  roles: MemberRole[],
): Promise<void> {
  await lockRow(transaction, 'accounts', accountId);
  const member = await findMembership(transaction.queries, caller, accountId);
  authorize('member.change', 'account.read', { role: member?.role ?? null, own: false });
  if (!member || !roles.every((role) => canManageMember(member, role))) throw new Forbidden();
}

/** Loads the member to change. Throws NotFound if the caller may not see the entry, Forbidden if they may not change it. */
export async function requireMember(
  transaction: Transaction,
  caller: Caller,
  accountId: string,
  userId: string,
  roles: MemberRole[],
): Promise<MemberRow> {
  const { queries } = transaction;
  await lockRow(transaction, 'accounts', accountId);
  const member = await findMembership(queries, caller, accountId);
  const [present] = await findMembers(queries, accountId, userId);
  authorize('member.read', 'member.read', { role: member?.role ?? null, own: userId === caller.userId });
  if (!present) throw new NotFound();
  await requireManageable(transaction, caller, accountId, [present, ...roles]);
  return present;
}

/** Throws InvalidRequest if the member is the account's last owner ({@link isLastOwner}). */
export async function requireAnotherOwner(queries: Queries, member: MemberRow): Promise<void> {
  if (member.role !== 'owner' || !isLastOwner(member, await findOwners(queries, member.account_id))) return;
  throw invalidValue(
    'AccountUser',
    'roles',
    'last_owner',
    'The last owner of an account cannot be removed or changed. Add another owner first and wait until they accept',
  );
}

/** The ids of installs by their names. Throws InvalidRequest for a name that is not in the account. */
export async function requireInstallIds(
  queries: Queries,
  accountId: string,
  names: string[],
): Promise<string[]> {
  const ids = await findInstallIds(queries, accountId, names);
  return names.map((name) => {
    const id = ids.get(name);
    if (id === undefined) {
      throw notPermitted('AccountUser', 'install_ids', `There is no install "${name}" in this account`);
    }
    return id;
  });
}

/**
 * Whether an account would lose its last owner with this one. An invited owner does not replace one who has accepted,
 * because the address may be mistyped or the invitation declined.
 */
export function isLastOwner(owner: Owner, owners: readonly Owner[]): boolean {
  return !owners.some(
    (other) => other.user_id !== owner.user_id && (other.invite_accepted || !owner.invite_accepted),
  );
}
