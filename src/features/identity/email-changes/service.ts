import { portalCaller, type RequestOrigin } from '../../../access/caller.ts';
import type { Session } from '../../../access/session.ts';
import type { Transaction } from '../../../database/database.ts';
import { lockRow } from '../../../database/lock.ts';
import { uniqueViolation } from '../../../database/unique-violation.ts';
import { timestamp } from '../../../lib/clock.ts';
import { HOUR_MS } from '../../../lib/durations.ts';
import { InvalidRequest, invalidValue, NotFound, taken, Unauthenticated } from '../../../lib/failures.ts';
import type { Platform } from '../../../platform/platform.ts';
import { verifyPassword } from '../../../secrets/password-hash.ts';
import { hashSecret, newSecret } from '../../../secrets/random-secret.ts';
import type { Attempt, SignInLimits } from '../limits/sign-in-limits.ts';
import { findSecondFactor } from '../second-factor/store.ts';
import { type CodeMatch, createCodeVerifier } from '../second-factor/verification.ts';
import { changeEmailAddress } from '../users/mailed-links-store.ts';
import { emailKey, findUserByEmail, findUserById, type UserWithPassword } from '../users/store.ts';
import {
  dissolveUnclaimed,
  isUnclaimed,
  type OpenInvitations,
  takeOverInvitations,
} from '../users/unclaimed-store.ts';
import { askNewAddress } from './jobs.ts';
import { findEmailChange, findEmailChangeByToken, replaceEmailChange, setEmailChangeToken } from './store.ts';

export interface EmailChangeRequest {
  email: string;
  current_password: string;
  /** A one-time code or a recovery code; asked for where the second factor is switched on. */
  code?: string;
}

export interface EmailChangeService {
  /**
   * Has a link sent to the new address; an earlier one stops working. Says nothing of whether somebody else has it. Throws
   * InvalidRequest where password or code are not right, RateLimited.
   */
  request(session: Session | null, wanted: EmailChangeRequest, origin: RequestOrigin): Promise<void>;
  /** The address that a link of the person's own is for. Throws NotFound. */
  find(session: Session | null, token: string): Promise<{ email: string }>;
  /**
   * Makes it the person's address, of which the old one is told (security-notices); what was sent to the new one to invite whoever has it invites them. Throws NotFound; InvalidRequest where somebody else
   * has it by now.
   */
  confirm(session: Session | null, token: string, origin: RequestOrigin): Promise<void>;
  /**
   * For the mail to the new address; those made before stop working. `link`: null where somebody else has the address; undefined
   * where the change was confirmed, given up or replaced.
   */
  createLink(id: string): Promise<{ email: string; link: string | null } | undefined>;
}

const LINK_MS = HOUR_MS;

export function createEmailChangeService(platform: Platform, limits: SignInLimits): EmailChangeService {
  const { config, database, queue, clock, random, activity } = platform;
  const { reader } = database;
  const codes = createCodeVerifier(platform);

  const request: EmailChangeService['request'] = async (session, wanted, origin) => {
    const { userId } = signedIn(session);
    const person = await requirePassword(userId, wanted.current_password);
    const email = wanted.email.trim();
    if (email === person.email) throw unchanged();
    const proof = await requireCode(userId, wanted.code);
    await limits.emailChange(userId, origin.address, email).catch((error: unknown) => {
      proof?.attempt.succeeded();
      throw error;
    });
    const id = random.uuid();
    await database.write(async (transaction) => {
      const { queries } = transaction;
      await lockRow(transaction, 'users', userId);
      const present = await findUserById(queries, userId);
      if (present?.password_hash !== person.password_hash) throw wrongPassword();
      if (proof && !(await codes.use(queries, proof.match))) throw wrongCode();
      await replaceEmailChange(queries, {
        user_id: userId,
        id,
        email,
        token_hash: null,
        expires_at: timestamp(clock, LINK_MS),
        created_at: timestamp(clock),
      });
      // Whether somebody has the address is looked up by the job: here it would show in the time that it takes.
      await queue.enqueue(transaction, askNewAddress, {
        payload: { change_id: id },
        lane: null,
        requestId: origin.requestId,
      });
    });
    proof?.attempt.succeeded();
  };

  async function requirePassword(userId: string, password: string): Promise<UserWithPassword> {
    const person = await findUserById(reader, userId);
    if (!person) throw new Unauthenticated('Authentication required');
    await limits.presentPassword(userId);
    if (!(await verifyPassword(password, person.password_hash))) throw wrongPassword();
    return person;
  }

  /** A code that is right and not used up yet; null where the person has no second factor. */
  async function requireCode(
    userId: string,
    code: string | undefined,
  ): Promise<{ match: CodeMatch; attempt: Attempt } | null> {
    const factor = await findSecondFactor(reader, userId);
    if (!factor || factor.confirmed_at === null) return null;
    if (code === undefined) throw codeRequired();
    const attempt = await limits.presentCode(userId);
    const match = await codes.match(userId, code);
    if (!match) throw wrongCode();
    return { match, attempt };
  }

  const openChange = (userId: string, token: string) => ({
    userId,
    tokenHash: hashSecret(token),
    now: timestamp(clock),
  });

  const find: EmailChangeService['find'] = async (session, token) => {
    const { userId } = signedIn(session);
    const change = await findEmailChangeByToken(reader, openChange(userId, token));
    if (!change) throw new NotFound();
    return change;
  };

  const confirm: EmailChangeService['confirm'] = async (session, token, origin) => {
    const { userId } = signedIn(session);
    await database
      .write(async (transaction) => {
        const { queries } = transaction;
        await lockRow(transaction, 'users', userId);
        const change = await findEmailChangeByToken(queries, openChange(userId, token));
        const person = await findUserById(queries, userId);
        if (!change || !person) throw new NotFound();
        const { email: to } = change;
        const { email: from } = person;
        const open = await freeAddress(transaction, userId, to);
        await changeEmailAddress(queries, userId, to);
        // After the move, with which the links end that went to the old address: these went to the new one.
        if (open) await takeOverInvitations(queries, userId, open);
        await activity.recordForUser(
          transaction,
          portalCaller(userId, origin),
          { userId },
          { action: 'profile.update', subject: { id: userId, name: to }, details: { from, to } },
        );
      })
      .catch((error: unknown) => {
        if (uniqueViolation(error) !== 'users.email_key') throw error;
        throw taken('EmailChange', 'email', 'Somebody else has this address by now, so nothing is changed');
      });
  };

  /** What the address was invited to where nobody has claimed it; who was invited is gone then, and their address is free. */
  async function freeAddress(
    transaction: Transaction,
    userId: string,
    email: string,
  ): Promise<OpenInvitations | undefined> {
    const holder = await findUserByEmail(transaction.queries, emailKey(email));
    return holder && holder.id !== userId ? dissolveUnclaimed(transaction, holder.id) : undefined;
  }

  const createLink: EmailChangeService['createLink'] = async (id) => {
    const token = newSecret(random);
    return database.write(async ({ queries }) => {
      const change = await findEmailChange(queries, id);
      if (!change) return undefined;
      const { user_id, email } = change;
      const holder = await findUserByEmail(queries, emailKey(email));
      if (holder && holder.id !== user_id && !(await isUnclaimed(queries, holder.id))) {
        return { email, link: null };
      }
      const made = { token_hash: hashSecret(token), expires_at: timestamp(clock, LINK_MS) };
      if (!(await setEmailChangeToken(queries, id, made))) return undefined;
      return { email, link: `${config.publicUrl}/me/email/${token}` };
    });
  };

  return { request, find, confirm, createLink };
}

function signedIn(session: Session | null): Session {
  if (!session) throw new Error('a request passed the gate without a session');
  return session;
}

const wrongPassword = () =>
  invalidValue('EmailChange', 'current_password', 'wrong', 'The current password is not right');

const wrongCode = () =>
  invalidValue('EmailChange', 'code', 'wrong', 'The code is not right, or was used already');

const unchanged = () => invalidValue('EmailChange', 'email', 'unchanged', 'This is your address already');

const codeRequired = () =>
  new InvalidRequest('Type a code of your app, or a recovery code', [
    {
      resource: 'EmailChange',
      field: 'code',
      type: 'missing_field',
      code: 'required',
      message: 'Type a code of your app, or a recovery code',
    },
  ]);
