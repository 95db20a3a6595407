import { type BrowserOrigin, OPERATOR, portalCaller, type RequestOrigin } from '../../../access/caller.ts';
import type { Session } from '../../../access/session.ts';
import type { Queries } from '../../../database/database.ts';
import { lockRow } from '../../../database/lock.ts';
import { timestamp } from '../../../lib/clock.ts';
import { DAY_MS, HOUR_MS } from '../../../lib/durations.ts';
import { NotFound } from '../../../lib/failures.ts';
import type { Platform } from '../../../platform/platform.ts';
import { hashPassword } from '../../../secrets/password-hash.ts';
import { hashSecret, newSecret } from '../../../secrets/random-secret.ts';
import type { CredentialService } from '../credentials/service.ts';
import { countActive } from '../credentials/store.ts';
import type { SignInLimits } from '../limits/sign-in-limits.ts';
import { endOtherSessions, endSessionsOf } from '../sessions/ending.ts';
import { knownDevice, renewDevice } from '../sessions/known-devices.ts';
import type { BrowserToken, RenewedSession } from '../sessions/token.ts';
import { deleteEmailChangeOf, deletePasswordLinksOf } from '../users/mailed-links-store.ts';
import { emailKey, findUserByEmail, findUserById, type UserWithPassword } from '../users/store.ts';
import { sendPasswordReset } from './jobs.ts';
import { requirePresentPassword, wrongPresentPassword } from './present-password.ts';
import { requireStrongPassword } from './rules.ts';
import { findPasswordLink, replacePasswordLink, setPassword, takePasswordLink } from './store.ts';

export interface FoundLink {
  email: string;
  first_name: string;
  purpose: 'first' | 'reset';
  /** The number of the user's active API credentials. */
  api_credentials: number;
}

export interface ChosenPassword {
  password: string;
  /** Also revokes the user's API credentials. */
  end_api_access?: boolean;
}

export interface PasswordService {
  /** Queues a reset mail. Does not reveal whether a user has the address. Throws RateLimited. */
  requestReset(email: string, origin: RequestOrigin): Promise<void>;
  /** Finds a valid link. Throws NotFound. */
  findLink(token: string): Promise<FoundLink>;
  /**
   * Sets a password, ends all sessions of the user and forgets their devices. If the acting browser is a known device, it
   * stays known, so that the user can sign in despite guessers; its new token is returned. Throws NotFound,
   * InvalidRequest, RateLimited.
   */
  setByLink(token: string, chosen: ChosenPassword, origin: BrowserOrigin): Promise<BrowserToken | null>;
  /**
   * Changes the password. Gives the session a new token and ends the user's other sessions. Throws InvalidRequest if the
   * current password is wrong or the new one too weak, RateLimited.
   */
  change(
    session: Session | null,
    input: { current_password: string; password: string },
    origin: RequestOrigin,
  ): Promise<RenewedSession>;
  /** Creates a password link; earlier links for the same purpose stop working. Throws NotFound. */
  createLink(userId: string, purpose: 'first' | 'reset'): Promise<string>;
  /** Creates a reset link for the user with an address; undefined without such a user. */
  createResetLink(emailKey: string): Promise<{ email: string; firstName: string; link: string } | undefined>;
}

/** How long links work. Links from a terminal (`first`) are used later than links in a requested mail. */
const LINK_MS = { first: 7 * DAY_MS, reset: HOUR_MS };

export function createPasswordService(
  platform: Platform,
  limits: SignInLimits,
  credentials: Pick<CredentialService, 'revokeAllOwn'>,
): PasswordService {
  const { config, database, queue, clock, random, activity } = platform;
  const { reader } = database;

  async function requestReset(email: string, { address, requestId }: RequestOrigin): Promise<void> {
    await limits.resetMail(address, email);
    // The job looks up the address: here, the response time would reveal whether a user has it.
    await database.write((transaction) =>
      queue.enqueue(transaction, sendPasswordReset, {
        payload: { email_key: emailKey(email) },
        lane: null,
        requestId,
      }),
    );
  }

  async function findLink(token: string) {
    const now = timestamp(clock);
    const link = await findPasswordLink(reader, hashSecret(token), now);
    if (!link) throw new NotFound();
    const { user_id, email, first_name } = link;
    // A link from the operator resets the password of a user who has one already.
    const purpose = link.password_hash === null ? link.purpose : 'reset';
    return { email, first_name, purpose, api_credentials: await countActive(reader, user_id, now) };
  }

  const setByLink: PasswordService['setByLink'] = async (token, chosen, origin) => {
    const { password, end_api_access = false } = chosen;
    const tokenHash = hashSecret(token);
    const link = await findPasswordLink(reader, tokenHash, timestamp(clock));
    // Refuses made-up tokens before the costly hash.
    if (!link) throw new NotFound();
    const { user_id: userId, email } = link;
    await requireStrongPassword(limits, password, { ...link, id: userId });
    const passwordHash = await hashPassword(password);
    const person = portalCaller(userId, origin);
    return database.write(async (transaction) => {
      const { queries } = transaction;
      await lockRow(transaction, 'users', userId);
      if (!(await takePasswordLink(queries, tokenHash, timestamp(clock)))) throw new NotFound();
      await replacePassword(queries, userId, passwordHash);
      const device = await knownDevice(queries, clock, origin.device, ({ user_id }) => user_id === userId);
      await endSessionsOf(queries, userId, device?.id);
      await activity.recordForUser(
        transaction,
        person,
        { userId },
        {
          action: 'password.set',
          subject: { id: userId, name: email },
          isFirst: link.password_hash === null,
        },
      );
      if (end_api_access) await credentials.revokeAllOwn(transaction, person);
      return device && renewDevice(queries, random, device);
    });
  };

  const change: PasswordService['change'] = async (session, { current_password, password }, origin) => {
    if (!session) throw new Error('a request reached its handler without a session');
    const { userId } = session;
    const presented = { userId, password: current_password, resource: 'Password' };
    const person = await requirePresentPassword(reader, limits, presented);
    await requireStrongPassword(limits, password, person);
    const passwordHash = await hashPassword(password);
    return database.write(async (transaction) => {
      const { queries } = transaction;
      await lockRow(transaction, 'users', userId);
      const present = await findUserById(queries, userId);
      if (present?.password_hash !== person.password_hash) throw wrongPresentPassword('Password');
      await replacePassword(queries, userId, passwordHash);
      const { renewed } = await endOtherSessions(queries, platform, session);
      await activity.recordForUser(
        transaction,
        portalCaller(userId, origin),
        { userId },
        { action: 'password.change', subject: { id: userId, name: person.email } },
      );
      return renewed;
    });
  };

  /** Sets the password. Open password links and email changes stop working. */
  async function replacePassword(queries: Queries, userId: string, passwordHash: string): Promise<void> {
    await setPassword(queries, userId, passwordHash);
    await deletePasswordLinksOf(queries, userId);
    await deleteEmailChangeOf(queries, userId);
  }

  async function createLink(userId: string, purpose: 'first' | 'reset'): Promise<string> {
    const link = await makeLink(userId, purpose, () => true);
    if (link === undefined) throw new NotFound();
    return link;
  }

  /** Creates a link; undefined if the user does not exist or `isMeant` rejects them. */
  async function makeLink(
    userId: string,
    purpose: 'first' | 'reset',
    isMeant: (person: UserWithPassword) => boolean,
  ): Promise<string | undefined> {
    const token = newSecret(random);
    const made = await database.write(async (transaction) => {
      const { queries } = transaction;
      // The lock makes one of two concurrent links replace the other.
      const person = (await lockRow(transaction, 'users', userId)) && (await findUserById(queries, userId));
      if (!person || !isMeant(person)) return false;
      await replacePasswordLink(queries, {
        token_hash: hashSecret(token),
        user_id: userId,
        purpose,
        expires_at: timestamp(clock, LINK_MS[purpose]),
        created_at: timestamp(clock),
      });
      // The operator sees this link and could sign in with it, so it is logged. Reset links go to the user only.
      if (purpose === 'first') {
        await activity.recordForUser(
          transaction,
          OPERATOR,
          { userId },
          { action: 'password.link', subject: { id: userId, name: person.email } },
        );
      }
      return true;
    });
    return made ? `${config.publicUrl}/password/${token}` : undefined;
  }

  async function createResetLink(key: string) {
    const person = await findUserByEmail(reader, key);
    if (!person) return undefined;
    // If the user's address changed meanwhile, no link goes to the old one.
    const link = await makeLink(person.id, 'reset', ({ email }) => emailKey(email) === key);
    return link === undefined ? undefined : { email: person.email, firstName: person.first_name, link };
  }

  return { requestReset, findLink, setByLink, change, createLink, createResetLink };
}
