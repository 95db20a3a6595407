import { portalCaller, type RequestOrigin } from '../../../access/caller.ts';
import type { Session } from '../../../access/session.ts';
import type { Transaction } from '../../../database/database.ts';
import { lockRow } from '../../../database/lock.ts';
import { uniqueViolation } from '../../../database/unique-violation.ts';
import { timestamp } from '../../../lib/clock.ts';
import { HOUR_MS } from '../../../lib/durations.ts';
import { invalidValue, NotFound, taken } from '../../../lib/failures.ts';
import type { Platform } from '../../../platform/platform.ts';
import { hashSecret, newSecret } from '../../../secrets/random-secret.ts';
import type { SignInLimits } from '../limits/sign-in-limits.ts';
import { requirePresentPassword, wrongPresentPassword } from '../passwords/present-password.ts';
import { createConfirmation, wrongFactor } from '../second-factor/confirmation.ts';
import type { PresentedFactor } from '../second-factor/schema.ts';
import { hasSecondFactor } from '../second-factor/store.ts';
import { createFactorVerifier } from '../second-factor/verification.ts';
import { changeEmailAddress } from '../users/mailed-links-store.ts';
import { emailKey, findUserByEmail, findUserById } from '../users/store.ts';
import {
  deleteUnclaimedUser,
  isUnclaimed,
  type OpenInvitations,
  takeOverInvitations,
} from '../users/unclaimed-store.ts';
import { askNewAddress } from './jobs.ts';
import { findEmailChange, findEmailChangeByToken, replaceEmailChange, setEmailChangeToken } from './store.ts';

/** With a second factor, one of its fields is required. */
export interface EmailChangeRequest extends PresentedFactor {
  email: string;
  current_password: string;
}

export interface EmailChangeService {
  /**
   * Queues a mail with a link to the new address; an earlier link stops working. Does not reveal whether another user has
   * the address. Throws InvalidRequest if the password or the second factor is wrong, RateLimited.
   */
  request(session: Session | null, wanted: EmailChangeRequest, origin: RequestOrigin): Promise<void>;
  /** The address that a link of the user confirms. Throws NotFound. */
  find(session: Session | null, token: string): Promise<{ email: string }>;
  /**
   * Changes the address and notifies the old one. Open invitations to the new address pass to the user. Throws NotFound;
   * InvalidRequest if another user has the address by now.
   */
  confirm(session: Session | null, token: string, origin: RequestOrigin): Promise<void>;
  /**
   * Creates the link for the mail to the new address; earlier links stop working. `link` is null if another user has the
   * address. Returns undefined if the change was confirmed, dropped or replaced.
   */
  createLink(id: string): Promise<{ email: string; link: string | null } | undefined>;
}

const LINK_MS = HOUR_MS;
const RESOURCE = 'EmailChange';

export function createEmailChangeService(platform: Platform, limits: SignInLimits): EmailChangeService {
  const { config, database, queue, clock, random, activity } = platform;
  const { reader } = database;
  const factors = createFactorVerifier(platform);
  const { requireFactor } = createConfirmation(reader, limits, factors);

  const request: EmailChangeService['request'] = async (session, wanted, origin) => {
    const present = signedIn(session);
    const { userId } = present;
    const password = wanted.current_password;
    const person = await requirePresentPassword(reader, limits, { userId, password, resource: RESOURCE });
    const email = wanted.email.trim();
    if (email === person.email) throw unchanged();
    const proof = (await hasSecondFactor(reader, userId))
      ? await requireFactor(present, wanted, { resource: RESOURCE, origin })
      : null;
    await limits.emailChange(userId, origin.address, email).catch((error: unknown) => {
      proof?.attempt.succeeded();
      throw error;
    });
    const id = random.uuid();
    await database.write(async (transaction) => {
      const { queries } = transaction;
      await lockRow(transaction, 'users', userId);
      const current = await findUserById(queries, userId);
      if (current?.password_hash !== person.password_hash) throw wrongPresentPassword(RESOURCE);
      if (proof && !(await factors.use(queries, proof.match))) throw wrongFactor(RESOURCE, wanted);
      await replaceEmailChange(queries, {
        user_id: userId,
        id,
        email,
        token_hash: null,
        expires_at: timestamp(clock, LINK_MS),
        created_at: timestamp(clock),
      });
      // The job looks up the address: here, the response time would reveal whether a user has it.
      await queue.enqueue(transaction, askNewAddress, {
        payload: { change_id: id },
        lane: null,
        requestId: origin.requestId,
      });
    });
    proof?.attempt.succeeded();
  };

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
        // After the address change, which deletes the links to the old address. These went to the new one.
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
        throw taken(
          'EmailChange',
          'email',
          'Another user has this address by now. Your address was not changed',
        );
      });
  };

  /** Frees an address that an unclaimed user holds, and returns their open invitations. */
  async function freeAddress(
    transaction: Transaction,
    userId: string,
    email: string,
  ): Promise<OpenInvitations | undefined> {
    const holder = await findUserByEmail(transaction.queries, emailKey(email));
    return holder && holder.id !== userId ? deleteUnclaimedUser(transaction, holder.id) : undefined;
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
  if (!session) throw new Error('a request reached its handler without a session');
  return session;
}

const unchanged = () => invalidValue(RESOURCE, 'email', 'unchanged', 'This is already your address');
