import { type Caller, portalCaller, type RequestOrigin } from '../../../access/caller.ts';
import { findMembership } from '../../../access/memberships.ts';
import { authorize, canManageMember } from '../../../access/permissions.ts';
import { lockRow } from '../../../database/lock.ts';
import { timestamp } from '../../../lib/clock.ts';
import { DAY_MS } from '../../../lib/durations.ts';
import { Forbidden, InvalidRequest, NotFound } from '../../../lib/failures.ts';
import type { Platform } from '../../../platform/platform.ts';
import { hashPassword } from '../../../secrets/password-hash.ts';
import { hashSecret, newSecret } from '../../../secrets/random-secret.ts';
import type { SignInLimits } from '../limits/sign-in-limits.ts';
import { requireStrongPassword } from '../passwords/rules.ts';
import { setPassword } from '../passwords/store.ts';
import { deletePasswordLinksOf } from '../users/mailed-links-store.ts';
import { findUserById } from '../users/store.ts';
import { invitationBy, sendInvitation } from './jobs.ts';
import {
  acceptMembership,
  deleteInvitedMember,
  findInvited,
  findOpenInvitation,
  replaceInvitation,
  takeInvitation,
} from './store.ts';

/** An open invitation. */
export interface OpenInvitation {
  account_id: string;
  account_name: string;
  user_id: string;
  first_name: string;
  last_name: string;
  email: string;
  /** Existing users keep their password. */
  has_password: boolean;
}

/** The user who sent an invitation. */
export type Inviter = Pick<OpenInvitation, 'first_name' | 'last_name' | 'email'>;

export type InvitationService = ReturnType<typeof createInvitationService>;

/** Invitations to an account, by a single-use link that expires. New users choose a password to accept. */
export function createInvitationService(platform: Platform, limits: SignInLimits) {
  const { config, database, queue, activity, clock, random } = platform;

  async function find(token: string): Promise<OpenInvitation | undefined> {
    const row = await findOpenInvitation(database.reader, hashSecret(token), timestamp(clock));
    if (!row) return undefined;
    const { password_hash, ...invitation } = row;
    return { ...invitation, has_password: password_hash !== null };
  }

  /** Mails an invitation again. Throws NotFound, Forbidden, RateLimited; InvalidRequest if it was accepted. */
  async function sendAgain(caller: Caller, accountId: string, userId: string): Promise<void> {
    await limits.invitationMail(caller.userId, { accountId, userId });
    await database.write(async (transaction) => {
      const { queries } = transaction;
      await lockRow(transaction, 'accounts', accountId);
      const member = await findMembership(queries, caller, accountId);
      const access = { role: member?.role ?? null, own: userId === caller.userId };
      authorize('member.read', 'member.read', access);
      const invited = await findInvited(queries, accountId, userId);
      if (!invited) throw new NotFound();
      authorize('member.change', 'member.read', access);
      if (!member || !canManageMember(member, invited)) throw new Forbidden();
      if (invited.invite_accepted) throw new InvalidRequest('This invitation has already been accepted');
      await queue.enqueue(transaction, sendInvitation, {
        payload: invitationBy(caller, accountId, userId),
        lane: null,
        account: accountId,
        requestId: caller.origin.requestId,
      });
      await activity.record(transaction, caller, accountId, {
        action: 'account_user.invite',
        subject: { id: userId, name: invited.email },
        details: { again: true },
      });
    });
  }

  /**
   * Creates the link of an invitation; earlier links stop working. Returns undefined if the membership is deleted or
   * accepted. `inviter` is undefined for the operator and for deleted users.
   */
  async function createLink(
    accountId: string,
    userId: string,
    invitedBy?: string,
  ): Promise<{ link: string; invitation: OpenInvitation; inviter: Inviter | undefined } | undefined> {
    const token = newSecret(random);
    const made = await database.write(async ({ queries }) => {
      const invited = await findInvited(queries, accountId, userId);
      if (!invited || invited.invite_accepted) return false;
      await replaceInvitation(queries, {
        token_hash: hashSecret(token),
        account_id: accountId,
        user_id: userId,
        expires_at: timestamp(clock, config.invitationDays * DAY_MS),
        created_at: timestamp(clock),
      });
      return true;
    });
    const invitation = made ? await find(token) : undefined;
    if (!invitation) return undefined;
    const inviter = invitedBy === undefined ? undefined : await findUserById(database.reader, invitedBy);
    return { link: `${config.publicUrl}/invitations/${token}`, invitation, inviter };
  }

  /**
   * Accepts an invitation. Users without a password must give one; for others it is ignored. Throws NotFound if the link was
   * used, replaced or has expired; InvalidRequest, RateLimited.
   */
  async function accept(token: string, password: string | null, origin: RequestOrigin): Promise<void> {
    const invitation = await find(token);
    if (!invitation) throw new NotFound();
    const { account_id: accountId, user_id: userId, email } = invitation;
    if (!invitation.has_password && password === null) throw passwordRequired();
    // Hashed only if needed, because it is costly.
    const passwordHash =
      invitation.has_password || password === null ? null : await hashFirstPassword(invitation, password);
    await database.write(async (transaction) => {
      const { queries } = transaction;
      await lockRow(transaction, 'users', userId);
      if (!(await takeInvitation(queries, hashSecret(token), timestamp(clock)))) throw new NotFound();
      await acceptMembership(queries, accountId, userId);
      const person = await findUserById(queries, userId);
      const isFirst = passwordHash !== null && person?.password_hash === null;
      if (isFirst) {
        await setPassword(queries, userId, passwordHash);
        await deletePasswordLinksOf(queries, userId);
      }
      const visit = portalCaller(userId, origin);
      const subject = { id: userId, name: email };
      await activity.record(transaction, visit, accountId, { action: 'account_user.accept', subject });
      if (isFirst) {
        const set = { action: 'password.set', subject, isFirst } as const;
        await activity.recordForUser(transaction, visit, { userId }, set);
      }
    });
  }

  /** Checks and hashes the first password of an invited user. */
  async function hashFirstPassword(invitation: OpenInvitation, password: string): Promise<string> {
    await requireStrongPassword(limits, password, { ...invitation, id: invitation.user_id }, 'Invitation');
    return hashPassword(password);
  }

  /** Declines an invitation and deletes the membership. Throws NotFound if the link no longer works. */
  async function decline(token: string, origin: RequestOrigin): Promise<void> {
    const invitation = await find(token);
    if (!invitation) throw new NotFound();
    const { account_id: accountId, user_id: userId, email } = invitation;
    await database.write(async (transaction) => {
      const { queries } = transaction;
      await lockRow(transaction, 'accounts', accountId);
      if (!(await takeInvitation(queries, hashSecret(token), timestamp(clock)))) throw new NotFound();
      await deleteInvitedMember(queries, accountId, userId);
      await activity.record(transaction, portalCaller(userId, origin), accountId, {
        action: 'account_user.remove',
        subject: { id: userId, name: email },
        details: { declined: true },
      });
    });
  }

  return { find, sendAgain, createLink, accept, decline };
}

const passwordRequired = () =>
  new InvalidRequest('Choose a password', [
    {
      resource: 'Invitation',
      field: 'password',
      type: 'missing_field',
      code: 'required',
      message: 'Choose a password',
    },
  ]);
