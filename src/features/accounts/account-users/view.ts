import type { Caller } from '../../../access/caller.ts';
import { excludesInstall } from '../../../access/limits.ts';
import type { Queries } from '../../../database/database.ts';
import { NotFound } from '../../../lib/failures.ts';
import { formatRoles } from '../../../lib/roles.ts';
import type { Change } from '../../../platform/activity-log.ts';
import { isLastOwner } from './rules.ts';
import { findGrantedInstalls, findMembers, findOwners, type MemberRow } from './store.ts';

/** A member, as the API presents them. */
export interface MemberView extends MemberRow {
  last_owner: boolean;
  installs: { id: string; name: string }[];
}

/** Removes the installs that the caller's credential excludes. */
export function visibleTo({ limits }: Caller, member: MemberView): MemberView {
  return { ...member, installs: member.installs.filter((install) => !excludesInstall(limits, install.id)) };
}

/** Differences in a member's rights, as log details; empty if there are none. */
export function changesBetween(before: MemberView, now: MemberView): NonNullable<Change['details']> {
  const installsOf = (member: MemberView) => member.installs.map((install) => install.id).join();
  return {
    ...(formatRoles(before) === formatRoles(now) ? {} : { roles: formatRoles(now) }),
    ...(installsOf(before) === installsOf(now) ? {} : { installs: now.installs.length }),
  };
}

/** Loads one member. Throws NotFound. */
export async function loadMember(queries: Queries, accountId: string, userId: string): Promise<MemberView> {
  const [member] = await loadMembers(queries, accountId, userId);
  if (!member) throw new NotFound();
  return member;
}

/** Loads the members of an account, oldest first, or only `userId`. */
export async function loadMembers(
  queries: Queries,
  accountId: string,
  userId?: string,
): Promise<MemberView[]> {
  const [members, owners, granted] = await Promise.all([
    findMembers(queries, accountId, userId),
    findOwners(queries, accountId),
    findGrantedInstalls(queries, accountId, userId),
  ]);
  const byUser = Map.groupBy(granted, (install) => install.user_id);
  return members.map((member) => ({
    ...member,
    last_owner: member.role === 'owner' && isLastOwner(member, owners),
    installs: (byUser.get(member.user_id) ?? []).map(({ id, name }) => ({ id, name })),
  }));
}
