import { type Caller, OPERATOR } from '../../../access/caller.ts';
import { findMembership } from '../../../access/memberships.ts';
import { authorize, isAllowed, type ResourceAccess } from '../../../access/permissions.ts';
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
import { requireAnotherOwner, requireHandling, requireInstallIds, requireMember } from './rules.ts';
import {
  deleteMember,
  findMembers,
  findPeople,
  findUserId,
  giveInstalls,
  insertMember,
  insertUser,
  type MemberRow,
  type Person,
  setMemberRole,
} from './store.ts';
import { changesBetween, loadMember, loadMembers, type MemberView, seenBy } from './view.ts';

export interface NewMember {
  account_id: string;
  first_name: string;
  last_name: string;
  email: string;
  roles: RoleInput;
  install_ids?: string[];
}

/** A person who is about to become a member. */
interface Addition {
  accountId: string;
  person: Pick<NewMember, 'email' | 'first_name' | 'last_name'>;
  wanted: MemberRole;
  actor: Actor;
  /** Whether they are mailed an invitation by a job, which is open until it is accepted; else they have accepted. */
  invited: boolean;
  /** Locks the account and checks that this may be done. Returns the installs to give (see `give`). */
  admit(transaction: Transaction): Promise<string[] | undefined>;
}

export type AccountUserService = ReturnType<typeof createAccountUserService>;

export function createAccountUserService(platform: Platform, limits: InvitationLimits) {
  const { database, queue, activity, clock, random } = platform;
  const { reader } = database;

  /** The members that the caller may see: for partial users their own entry. */
  async function list(caller: Caller, accountId: string): Promise<MemberView[]> {
    const member = await findMembership(reader, caller, accountId);
    authorize('account.read', 'account.read', { role: member?.role ?? null, own: false });
    const standing = (userId: string): ResourceAccess => ({
      role: member?.role ?? null,
      own: userId === caller.userId,
    });
    const members = await loadMembers(reader, accountId);
    return members
      .filter((entry) => isAllowed('member.read', standing(entry.user_id)))
      .map((entry) => seenBy(caller, entry));
  }

  async function get(caller: Caller, accountId: string, userId: string): Promise<MemberView> {
    const member = await findMembership(reader, caller, accountId);
    const standing: ResourceAccess = { role: member?.role ?? null, own: userId === caller.userId };
    authorize('member.read', 'member.read', standing);
    return seenBy(caller, await loadMember(reader, accountId, userId));
  }

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
        await requireHandling(transaction, caller, accountId, [wanted]);
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
   * For the command line: adds a person on behalf of nobody in the account. Without `invite` they count as having
   * accepted; with it they get the mail that a job sends. Throws NotFound if there is no such account, InvalidRequest.
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

  /** Adds a person, known or new, to an account: all of it in one transaction, or nothing. */
  async function add({ accountId, person, wanted, actor, invited, admit }: Addition): Promise<MemberView> {
    const attempt = () =>
      database.write(async (transaction) => {
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
        await give(queries, accountId, userId, wanted, installIds);
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
      // Somebody else added the same person a moment ago: now they are known.
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
    await database.write(async (transaction) => {
      const { queries } = transaction;
      const present = await requireMember(transaction, caller, accountId, userId, [wanted]);
      const before = await loadMember(queries, accountId, userId);
      if (wanted.role !== 'owner') await requireAnotherOwner(queries, present);
      await setMemberRole(queries, accountId, userId, wanted);
      await give(queries, accountId, userId, wanted, change.install_ids);
      const changes = changesBetween(before, await loadMember(queries, accountId, userId));
      if (Object.keys(changes).length > 0) {
        await record(transaction, caller, 'account_user.update', before, changes);
      }
    });
    return loadMember(reader, accountId, userId);
  }

  async function remove(caller: Caller, accountId: string, userId: string): Promise<void> {
    await database.write(async (transaction) => {
      const present = await requireMember(transaction, caller, accountId, userId, []);
      await end(transaction, caller, present);
    });
  }

  /** Ends the caller's own membership, whatever their role. Throws NotFound; InvalidRequest for the last owner. */
  async function leave(caller: Caller, accountId: string): Promise<void> {
    await database.write(async (transaction) => {
      await lockRow(transaction, 'accounts', accountId);
      const [present] = await findMembers(transaction.queries, accountId, caller.userId);
      if (!present) throw new NotFound();
      await end(transaction, caller, present, { self: true });
    });
  }

  /** Of an account that is locked, so that its owners stay as they are counted. */
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

  /** A known person keeps their own details, whatever the invitation says of them. */
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

  /** For the command line: the people of one account, or of the whole platform; oldest first. */
  const listPeople = (accountId?: string): Promise<Person[]> =>
    findPeople(reader, accountId === undefined ? {} : { accountId });

  /** For the command line: whose address this is, in whatever case. */
  const findPerson = async (email: string): Promise<Person | undefined> =>
    (await findPeople(reader, { email }))[0];

  return { list, get, invite, addByOperator, update, remove, leave, listPeople, findPerson };
}

/** Installs are given to partial users; the others see all of the account, and what they once were given is dropped. */
async function give(
  queries: Queries,
  accountId: string,
  userId: string,
  { role }: MemberRole,
  installIds: string[] | undefined,
): Promise<void> {
  if (role === 'partial' && installIds === undefined) return;
  const wanted = role === 'partial' ? (installIds ?? []).map((id) => id.toLowerCase()) : [];
  const given = await giveInstalls(queries, { account_id: accountId, user_id: userId }, wanted);
  if (!given)
    throw notPermitted('AccountUser', 'install_ids', 'An install of install_ids is not in this account');
}

function trimmed({ first_name, last_name }: Addition['person']): { first_name: string; last_name: string } {
  return { first_name: first_name.trim(), last_name: last_name.trim() };
}
