import type { Caller } from '../../access/caller.ts';
import { timestamp } from '../../clock.ts';
import { hashSecret, newSecret } from '../../credential-secret.ts';
import { hashPassword } from '../../passwords.ts';
import type { Platform } from '../../platform.ts';
import type { SessionOrigin } from '../sessions/origin.ts';

/** An invitation that still can be accepted. */
export interface OpenInvitation {
  account_id: string;
  account_name: string;
  user_id: string;
  first_name: string;
  email: string;
  /** Known people have a password already, and keep it. */
  has_password: boolean;
}

const DAY_MS = 24 * 60 * 60 * 1000;

export type InvitationService = ReturnType<typeof createInvitationService>;

/** Invitations: a single-use link that expires; whoever follows it sets a password and so accepts. */
export function createInvitationService({
  config,
  database,
  clock,
  random,
}: Pick<Platform, 'config' | 'database' | 'clock' | 'random'>) {
  const openInvitations = database.reader
    .selectFrom('invitations as invitation')
    .innerJoin('accounts as account', 'account.id', 'invitation.account_id')
    .innerJoin('users as person', 'person.id', 'invitation.user_id')
    .select([
      'invitation.account_id',
      'account.name as account_name',
      'invitation.user_id',
      'person.first_name',
      'person.email',
      'person.password_hash',
    ]);

  async function find(token: string): Promise<OpenInvitation | undefined> {
    const row = await openInvitations
      .where('invitation.token_hash', '=', hashSecret(token))
      .where('invitation.expires_at', '>', timestamp(clock))
      .executeTakeFirst();
    if (!row) return undefined;
    const { password_hash, ...invitation } = row;
    return { ...invitation, has_password: password_hash !== null };
  }

  return {
    find,

    /** Mails an invitation again. Throws NotFound, Forbidden; InvalidRequest where it was accepted. */
    async sendAgain(_caller: Caller, _accountId: string, _userId: string): Promise<void> {
      throw new Error('being built');
    },

    /**
     * Makes the one link of an invitation; those of earlier mails stop working. Undefined if there is nothing to invite
     * to any more: the membership is gone, or accepted.
     */
    async createLink(
      accountId: string,
      userId: string,
    ): Promise<{ link: string; invitation: OpenInvitation } | undefined> {
      const token = newSecret(random);
      const made = await database.write(async ({ queries }) => {
        const member = await queries
          .selectFrom('memberships')
          .select('invite_accepted')
          .where('account_id', '=', accountId)
          .where('user_id', '=', userId)
          .executeTakeFirst();
        if (!member || member.invite_accepted) return false;
        await queries
          .deleteFrom('invitations')
          .where('account_id', '=', accountId)
          .where('user_id', '=', userId)
          .execute();
        await queries
          .insertInto('invitations')
          .values({
            token_hash: hashSecret(token),
            account_id: accountId,
            user_id: userId,
            expires_at: timestamp(clock, config.invitationDays * DAY_MS),
            created_at: timestamp(clock),
          })
          .execute();
        return true;
      });
      const invitation = made ? await find(token) : undefined;
      return invitation && { link: `${config.publicUrl}/invitations/${token}`, invitation };
    },

    /**
     * Accepts an invitation; `password` is needed of people who have none yet, and ignored of others. Returns false if the
     * link was used before or has expired.
     */
    async accept(token: string, password: string | null, _origin?: SessionOrigin): Promise<boolean> {
      const password_hash = password === null ? null : await hashPassword(password);
      return database.write(async ({ queries }) => {
        const used = await queries
          .deleteFrom('invitations')
          .where('token_hash', '=', hashSecret(token))
          .where('expires_at', '>', timestamp(clock))
          .returning(['account_id', 'user_id'])
          .executeTakeFirst();
        if (!used) return false;
        await queries
          .updateTable('memberships')
          .set({ invite_accepted: true })
          .where('account_id', '=', used.account_id)
          .where('user_id', '=', used.user_id)
          .execute();
        if (password_hash !== null) {
          await queries
            .updateTable('users')
            .set({ password_hash })
            .where('id', '=', used.user_id)
            .where('password_hash', 'is', null)
            .execute();
        }
        return true;
      });
    },
  };
}
