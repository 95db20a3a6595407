import { type Caller, OPERATOR } from '../../../access/caller.ts';
import { findMembership } from '../../../access/memberships.ts';
import { authorize, isAllowed, type ResourceAccess } from '../../../access/permissions.ts';
import { changeFor, readFor } from '../../../access/request-transactions.ts';
import type { Queries, Transaction } from '../../../database/database.ts';
import { lockRow } from '../../../database/lock.ts';
import { uniqueViolation } from '../../../database/unique-violation.ts';
import { timestamp } from '../../../lib/clock.ts';
import { invalidValue, NotFound, notPermitted, taken } from '../../../lib/failures.ts';
import { formatRoles, type MemberRole, parseRoles, type RoleInput } from '../../../lib/roles.ts';
import type { Action, Actor, Change } from '../../../platform/activity-log.ts';
import type { Platform } from '../../../platform/platform.ts';
import { invitationBy, sendInvitation } from '../../identity/invitations/jobs.ts';
import type { InvitationLimits } from '../../identity/limits/mail-limits.ts';
import { requireAnotherOwner, requireInstallIds, requireManageable, requireMember } from './rules.ts';
import {
  deleteMember,
  findMembers,
  findPeople,
  findUserId,
  insertMember,
  insertUser,
  type MemberRow,
  type Person,
  setInstallGrants,
  setMemberRole,
} from './store.ts';
import { changesBetween, loadMember, loadMembers, type MemberView, visibleTo } from './view.ts';

export interface NewMember {
  account_id: string;
  first_name: string;
  last_name: string;
  email: string;
  roles: RoleInput;
  install_ids?: string[];
}

/** A user who is about to become a member. */
interface Addition {
  accountId: string;
  person: Pick<NewMember, 'email' | 'first_name' | 'last_name'>;
  wanted: MemberRole;
  actor: Actor;
  /** Whether a job mails an invitation, which stays open until it is accepted; otherwise it counts as accepted. */
  invited: boolean;
  /** Locks the account and checks permission. Returns the ids of the installs to grant (see `grantInstalls`). */
  admit(transaction: Transaction): Promise<string[] | undefined>;
}

export type AccountUserService = ReturnType<typeof createAccountUserService>;

export function createAccountUserService(platform: Platform, limits: InvitationLimits) {
  const { database, queue, activity, clock, random } = platform;
  const { reader } = database;

  /** Members that the caller may see; for partial users only their own entry. */
  const list = (caller: Caller, accountId: string): Promise<MemberView[]> =>
    readFor(database, caller, async (queries) => {
      const member = await findMembership(queries, caller, accountId);
      authorize('account.read', 'account.read', { role: member?.role ?? null, own: false });
      const accessTo = (userId: string): ResourceAccess => ({
        role: member?.role ?? null,
        own: userId === caller.userId,
      });
      const members = await loadMembers(queries, accountId);
      return members
        .filter((entry) => isAllowed('member.read', accessTo(entry.user_id)))
        .map((entry) => visibleTo(caller, entry));
    });

  const get = (caller: Caller, accountId: string, userId: string): Promise<MemberView> =>
    readFor(database, caller, async (queries) => {
      const member = await findMembership(queries, caller, accountId);
      const access: ResourceAccess = { role: member?.role ?? null, own: userId === caller.userId };
      authorize('member.read', 'member.read', access);
      return visibleTo(caller, await loadMember(queries, accountId, userId));
    });

  /** Throws NotFound, Forbidden, InvalidRequest, RateLimited. */
  async function invite(caller: Caller, accountId: string, input: NewMember): Promise<MemberView> {
    const counted = await limits.invitation(caller.userId, input.email);
    const wanted = parseRoles(input.roles);
    return add({
      accountId,
      person: input,
      wanted,
      actor: caller,
      invited: true,
      async admit(transaction) {
        await requireManageable(transaction, caller, accountId, [wanted]);
        if (input.account_id.toLowerCase() !== accountId) {
          throw invalidValue(
            'AccountUser',
            'account_id',
            'mismatch',
            'account_id must be the account of the path',
          );
        }
        return input.install_ids;
      },
    }).catch((error: unknown) => {
      counted.refused();
      throw error;
    });
  }

  /**
   * For the command line: adds a user to an account. Without `invite` the membership counts as accepted; with it a job
   * mails an invitation. Throws NotFound if the account does not exist, InvalidRequest.
   */
  async function addByOperator(
    input: Omit<NewMember, 'install_ids'>,
    { installNames, invite }: { installNames: string[]; invite: boolean },
  ): Promise<MemberView> {
    const accountId = input.account_id.toLowerCase();
    return add({
      accountId,
      person: input,
      wanted: parseRoles(input.roles),
      actor: OPERATOR,
      invited: invite,
      async admit(transaction) {
        if (!(await lockRow(transaction, 'accounts', accountId))) throw new NotFound();
        return requireInstallIds(transaction.queries, accountId, installNames);
      },
    });
  }

  /** Adds an existing or new user to an account, in one transaction. */
  async function add({ accountId, person, wanted, actor, invited, admit }: Addition): Promise<MemberView> {
    const attempt = () =>
      changeFor(database, actor, async (transaction) => {
        const { queries } = transaction;
        const installIds = await admit(transaction);
        const userId = await findOrAddPerson(queries, person);
        await insertMember(queries, {
          account_id: accountId,
          user_id: userId,
          ...wanted,
          invited_as: invited ? trimmed(person) : null,
          created_at: timestamp(clock),
        });
        await grantInstalls(queries, accountId, userId, wanted, installIds);
        if (invited) {
          await queue.enqueue(transaction, sendInvitation, {
            payload: invitationBy(actor, accountId, userId),
            lane: null,
            account: accountId,
            requestId: actor.origin.requestId,
          });
        }
        const added = await loadMember(queries, accountId, userId);
        await record(transaction, actor, invited ? 'account_user.invite' : 'account_user.add', added, {
          roles: formatRoles(added),
          ...(added.installs.length > 0 ? { installs: added.installs.length } : {}),
        });
        return userId;
      });
    const userId = await attempt()
      // Another request just added the same user, so the second attempt finds them.
      .catch((error: unknown) =>
        uniqueViolation(error) === 'users.email_key' ? attempt() : Promise.reject(error),
      )
      .catch((error: unknown) => {
        if (uniqueViolation(error) !== 'memberships.account_id, memberships.user_id') throw error;
        throw taken('AccountUser', 'email', `${person.email} is a user of this account already`);
      });
    return loadMember(reader, accountId, userId);
  }

  async function update(
    caller: Caller,
    accountId: string,
    userId: string,
    change: { roles: RoleInput; install_ids?: string[] },
  ): Promise<MemberView> {
    const wanted = parseRoles(change.roles);
    await changeFor(database, caller, async (transaction) => {
      const { queries } = transaction;
      const present = await requireMember(transaction, caller, accountId, userId, [wanted]);
      const before = await loadMember(queries, accountId, userId);
      if (wanted.role !== 'owner') await requireAnotherOwner(queries, present);
      await setMemberRole(queries, accountId, userId, wanted);
      await grantInstalls(queries, accountId, userId, wanted, change.install_ids);
      const changes = changesBetween(before, await loadMember(queries, accountId, userId));
      if (Object.keys(changes).length > 0) {
        await record(transaction, caller, 'account_user.update', before, changes);
      }
    });
    return loadMember(reader, accountId, userId);
  }

  async function remove(caller: Caller, accountId: string, userId: string): Promise<void> {
    await changeFor(database, caller, async (transaction) => {
      const present = await requireMember(transaction, caller, accountId, userId, []);
      await end(transaction, caller, present);
    });
  }

  /** Ends the caller's own membership. Throws NotFound; InvalidRequest for the last owner. */
  async function leave(caller: Caller, accountId: string): Promise<void> {
    await changeFor(database, caller, async (transaction) => {
      await lockRow(transaction, 'accounts', accountId);
      const [present] = await findMembers(transaction.queries, accountId, caller.userId);
      if (!present) throw new NotFound();
      await end(transaction, caller, present, { self: true });
    });
  }

  /** Ends a membership. The account must be locked, so that the count of its owners stays right. */
  async function end(
    transaction: Transaction,
    actor: Actor,
    member: MemberRow,
    details?: Change['details'],
  ): Promise<void> {
    await requireAnotherOwner(transaction.queries, member);
    await deleteMember(transaction.queries, member);
    await record(transaction, actor, 'account_user.remove', member, details);
  }

  async function record(
    transaction: Transaction,
    actor: Actor,
    action: Action,
    { account_id, user_id, email }: MemberRow,
    details?: Change['details'],
  ): Promise<void> {
    const subject = { id: user_id, name: email };
    await activity.record(transaction, actor, account_id, {
      action,
      subject,
      ...(details === undefined ? {} : { details }),
    });
  }

  /** Finds or creates the user. An existing user keeps their own details. */
  async function findOrAddPerson(queries: Queries, input: Addition['person']): Promise<string> {
    const known = await findUserId(queries, input.email.toLowerCase());
    if (known !== undefined) return known;
    const id = random.uuid();
    await insertUser(queries, {
      id,
      email: input.email,
      ...trimmed(input),
      created_at: timestamp(clock),
    });
    return id;
  }

  /** For the command line: the users of one account or of the whole platform, oldest first. */
  const listPeople = (accountId?: string): Promise<Person[]> =>
    findPeople(reader, accountId === undefined ? {} : { accountId });

  /** For the command line: the user with an email address, in any case. */
  const findPerson = async (email: string): Promise<Person | undefined> =>
    (await findPeople(reader, { email }))[0];

  return { list, get, invite, addByOperator, update, remove, leave, listPeople, findPerson };
}

/** Sets the installs of a partial user. Other roles see the whole account, so their grants are deleted. */
async function grantInstalls(
  queries: Queries,
  accountId: string,
  userId: string,
  { role }: MemberRole,
  installIds: string[] | undefined,
): Promise<void> {
  if (role === 'partial' && installIds === undefined) return;
  const wanted = role === 'partial' ? (installIds ?? []).map((id) => id.toLowerCase()) : [];
  const granted = await setInstallGrants(queries, { account_id: accountId, user_id: userId }, wanted);
  if (!granted)
    throw notPermitted('AccountUser', 'install_ids', 'An install of install_ids is not in this account');
}

function trimmed({ first_name, last_name }: Addition['person']): { first_name: string; last_name: string } {
  return { first_name: first_name.trim(), last_name: last_name.trim() };
}
