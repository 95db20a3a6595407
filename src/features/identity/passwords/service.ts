import { type BrowserOrigin, OPERATOR, portalCaller, type RequestOrigin } from '../../../access/caller.ts';
import type { Session } from '../../../access/session.ts';
import type { Queries } from '../../../database/database.ts';
import { lockRow } from '../../../database/lock.ts';
import { timestamp } from '../../../lib/clock.ts';
import { DAY_MS, HOUR_MS } from '../../../lib/durations.ts';
import { invalidValue, NotFound, Unauthenticated } from '../../../lib/failures.ts';
import type { Platform } from '../../../platform/platform.ts';
import { hashPassword, verifyPassword } from '../../../secrets/password-hash.ts';
import { hashSecret, newSecret } from '../../../secrets/random-secret.ts';
import type { CredentialService } from '../credentials/service.ts';
import { countWorking } from '../credentials/store.ts';
import type { SignInLimits } from '../limits/sign-in-limits.ts';
import { endOtherSessions, endSessionsOf } from '../sessions/ending.ts';
import { knownDevice, renewDevice } from '../sessions/known-devices.ts';
import type { BrowserToken, RenewedSession } from '../sessions/token.ts';
import { deleteEmailChangeOf, deletePasswordLinksOf } from '../users/mailed-links-store.ts';
import { emailKey, findUserByEmail, findUserById, type UserWithPassword } from '../users/store.ts';
import { sendPasswordReset } from './jobs.ts';
import { requireStrongPassword } from './rules.ts';
import { findPasswordLink, replacePasswordLink, setPassword, takePasswordLink } from './store.ts';

export interface FoundLink {
  email: string;
  first_name: string;
  purpose: 'first' | 'reset';
  /** How many API credentials of the person work. */
  api_credentials: number;
}

export interface ChosenPassword {
  password: string;
  /** Revokes the person's API credentials, too. */
  end_api_access?: boolean;
}

export interface PasswordService {
  /** Has a mail sent if somebody has the address. Takes as long, and says as much, if nobody has. Throws RateLimited. */
  requestReset(email: string, origin: RequestOrigin): Promise<void>;
  /** Throws NotFound. */
  findLink(token: string): Promise<FoundLink>;
  /**
   * Ends all sessions of the person, and knows none of their browsers any more but the one where it is done, if that was known:
   * whoever sets a password against somebody's guesses must get in with it. Returns its other token. Throws NotFound, InvalidRequest,
   * RateLimited.
   */
  setByLink(token: string, chosen: ChosenPassword, origin: BrowserOrigin): Promise<BrowserToken | null>;
  /**
   * The session gets another token, all others of the person end. Throws InvalidRequest where the current password is not right or the
   * new one not fit, RateLimited.
   */
  change(
    session: Session | null,
    input: { current_password: string; password: string },
    origin: RequestOrigin,
  ): Promise<RenewedSession>;
  /** Makes a link for somebody; earlier ones for the same purpose stop working. For the first start, mails and the command line. Throws NotFound. */
  createLink(userId: string, purpose: 'first' | 'reset'): Promise<string>;
  /** The same for the mail to an address; undefined if nobody has it. */
  createResetLink(emailKey: string): Promise<{ email: string; firstName: string; link: string } | undefined>;
}

/** How long a link works: one that somebody reads off a terminal waits for them longer than one in a mail that they asked for. */
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
    // Whether anybody has the address is looked up by the job: here it would show in the time that it takes.
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
    // Whoever has a password and is handed a link by the operator is in the same need as whoever asked for one.
    const purpose = link.password_hash === null ? link.purpose : 'reset';
    return { email, first_name, purpose, api_credentials: await countWorking(reader, user_id, now) };
  }

  const setByLink: PasswordService['setByLink'] = async (token, chosen, origin) => {
    const { password, end_api_access = false } = chosen;
    const tokenHash = hashSecret(token);
    const link = await findPasswordLink(reader, tokenHash, timestamp(clock));
    // Before the costly hash, which is not for whoever makes up tokens.
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
    if (!session) throw new Error('a request passed the gate without a session');
    const { userId } = session;
    const person = await findUserById(reader, userId);
    if (!person) throw new Unauthenticated('Authentication required');
    await limits.presentPassword(userId);
    if (!(await verifyPassword(current_password, person.password_hash))) throw wrongPassword();
    await requireStrongPassword(limits, password, person);
    const passwordHash = await hashPassword(password);
    return database.write(async (transaction) => {
      const { queries } = transaction;
      await lockRow(transaction, 'users', userId);
      const present = await findUserById(queries, userId);
      if (present?.password_hash !== person.password_hash) throw wrongPassword();
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

  /** A link to set the one before serves nobody any more, nor an address that was asked for by it. */
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

  /** Undefined where there is no such person, or it is not who was meant. */
  async function makeLink(
    userId: string,
    purpose: 'first' | 'reset',
    isMeant: (person: UserWithPassword) => boolean,
  ): Promise<string | undefined> {
    const token = newSecret(random);
    const made = await database.write(async (transaction) => {
      const { queries } = transaction;
      // Locked: of two links made at once, one replaces the other.
      const person = (await lockRow(transaction, 'users', userId)) && (await findUserById(queries, userId));
      if (!person || !isMeant(person)) return false;
      await replacePasswordLink(queries, {
        token_hash: hashSecret(token),
        user_id: userId,
        purpose,
        expires_at: timestamp(clock, LINK_MS[purpose]),
        created_at: timestamp(clock),
      });
      // Whoever holds it can become that person: a mail goes to themselves, but the operator sees this one.
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
    // Whoever has got another address meanwhile must not have it sent to the old one.
    const link = await makeLink(person.id, 'reset', ({ email }) => emailKey(email) === key);
    return link === undefined ? undefined : { email: person.email, firstName: person.first_name, link };
  }

  return { requestReset, findLink, setByLink, change, createLink, createResetLink };
}

const wrongPassword = () =>
  invalidValue('Password', 'current_password', 'wrong', 'The current password is not right');
