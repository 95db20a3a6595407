import type { Caller } from '../../../access/caller.ts';
import { excludesInstall } from '../../../access/limits.ts';
import type { Queries } from '../../../database/database.ts';
import { NotFound } from '../../../lib/failures.ts';
import { formatRoles } from '../../../lib/roles.ts';
import type { Change } from '../../../platform/activity-log.ts';
import { isLastOwner } from './rules.ts';
import { findGivenInstalls, findMembers, findOwners, type MemberRow } from './store.ts';

/** A member as the API shows them. */
export interface MemberView extends MemberRow {
  last_owner: boolean;
  installs: { id: string; name: string }[];
}

/** A member as a caller sees them, whose credential may leave installs out. */
export function seenBy({ limits }: Caller, member: MemberView): MemberView {
  return { ...member, installs: member.installs.filter((install) => !excludesInstall(limits, install.id)) };
}

/** What of a member's rights is otherwise now than before; empty if nothing is. */
export function changesBetween(before: MemberView, now: MemberView): NonNullable<Change['details']> {
  const installsOf = (member: MemberView) => member.installs.map((install) => install.id).join();
  return {
    ...(formatRoles(before) === formatRoles(now) ? {} : { roles: formatRoles(now) }),
    ...(installsOf(before) === installsOf(now) ? {} : { installs: now.installs.length }),
  };
}

/** One member. Throws NotFound. */
export async function loadMember(queries: Queries, accountId: string, userId: string): Promise<MemberView> {
  const [member] = await loadMembers(queries, accountId, userId);
  if (!member) throw new NotFound();
  return member;
}

/** The members of an account, oldest first, or the one of them. */
export async function loadMembers(
  queries: Queries,
  accountId: string,
  userId?: string,
): Promise<MemberView[]> {
  const [members, owners, given] = await Promise.all([
    findMembers(queries, accountId, userId),
    findOwners(queries, accountId),
    findGivenInstalls(queries, accountId, userId),
  ]);
  const byUser = Map.groupBy(given, (install) => install.user_id);
  return members.map((member) => ({
    ...member,
    last_owner: member.role === 'owner' && isLastOwner(member, owners),
    installs: (byUser.get(member.user_id) ?? []).map(({ id, name }) => ({ id, name })),
  }));
}
