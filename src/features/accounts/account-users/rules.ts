import type { Caller } from '../../../access/caller.ts';
import { findMembership } from '../../../access/memberships.ts';
import { authorize, mayHandle } from '../../../access/permissions.ts';
import type { Queries, Transaction } from '../../../database/database.ts';
import { lockRow } from '../../../database/lock.ts';
import { Forbidden, invalidValue, NotFound, notPermitted } from '../../../lib/failures.ts';
import type { MemberRole } from '../../../lib/roles.ts';
import { findInstallIds, findMembers, findOwners, type MemberRow, type Owner } from './store.ts';

/** Locks the account, so that its owners stay as they are counted, and checks that the caller may handle the roles. */
export async function requireHandling(
  transaction: Transaction,
  caller: Caller,
  accountId: string,
  roles: MemberRole[],
): Promise<void> {
  await lockRow(transaction, 'accounts', accountId);
  const member = await findMembership(transaction.queries, caller, accountId);
  authorize('member.change', 'account.read', { role: member?.role ?? null, own: false });
  if (!member || !roles.every((role) => mayHandle(member, role))) throw new Forbidden();
}

/** The member that is to be changed. A caller who may not even see the entry learns nothing of it. */
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
  await requireHandling(transaction, caller, accountId, [present, ...roles]);
  return present;
}

/** Throws InvalidRequest if the member is the account's last owner ({@link isLastOwner}). */
export async function requireAnotherOwner(queries: Queries, member: MemberRow): Promise<void> {
  if (member.role !== 'owner' || !isLastOwner(member, await findOwners(queries, member.account_id))) return;
  throw invalidValue(
    'AccountUser',
    'roles',
    'last_owner',
    'The last owner of an account can be neither removed nor changed; make somebody else an owner first, and wait until they have accepted',
  );
}

/** The ids of the installs of those names. Throws InvalidRequest for one that is not in the account. */
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
 * Whether an account would be without an owner if this one went. Whoever is merely invited does not take the place of
 * somebody who is there: the address may be mistyped, the invitation declined.
 */
export function isLastOwner(owner: Owner, owners: readonly Owner[]): boolean {
  return !owners.some(
    (other) => other.user_id !== owner.user_id && (other.invite_accepted || !owner.invite_accepted),
  );
}
