import { OPERATOR, portalCaller, type RequestOrigin } from '../../../access/caller.ts';
import type { Session } from '../../../access/session.ts';
import type { Transaction } from '../../../database/database.ts';
import { lockRow } from '../../../database/lock.ts';
import { timestamp } from '../../../lib/clock.ts';
import { InvalidRequest, invalidValue, NotFound, Unauthenticated } from '../../../lib/failures.ts';
import type { Platform } from '../../../platform/platform.ts';
import { verifyPassword } from '../../../secrets/password-hash.ts';
import type { SignInLimits } from '../limits/sign-in-limits.ts';
import { endOtherSessions, endSessionsOf } from '../sessions/ending.ts';
import type { RenewedSession } from '../sessions/token.ts';
import { findUserById, type UserWithPassword } from '../users/store.ts';
import { hashRecoveryCode, newRecoveryCodes } from './recovery-codes.ts';
import {
  confirmSecret,
  countRecoveryCodes,
  deleteSecondFactor,
  findRequiringAccounts,
  findSecondFactor,
  offerSecret,
  replaceRecoveryCodes,
  setMfaEnabled,
} from './store.ts';
import { newTotpSecret, sixDigits, stepOfCode, totpUri } from './totp.ts';
import { createCodeVerifier } from './verification.ts';

export interface SecondFactorService {
  /** The state of the user's second factor. `required_by`: names of the accounts that require one. */
  status(
    session: Session | null,
  ): Promise<{ enabled: boolean; recovery_codes_left: number; required_by: string[] }>;
  /** Starts an enrolment. Throws InvalidRequest if the password is wrong or a second factor is already on, RateLimited. */
  enrol(session: Session | null, password: string): Promise<{ secret: string; uri: string }>;
  /**
   * Switches the second factor on. Gives the session a new token and ends the user's other sessions. Throws
   * InvalidRequest if the code is wrong, RateLimited.
   */
  confirm(
    session: Session | null,
    code: string,
    origin: RequestOrigin,
  ): Promise<{ recoveryCodes: string[]; renewed: RenewedSession }>;
  /** Switches the second factor off. Throws InvalidRequest if the code is wrong or an account requires it, RateLimited. */
  remove(session: Session | null, code: string, origin: RequestOrigin): Promise<void>;
  /** Replaces the recovery codes. Throws InvalidRequest if the code is wrong, RateLimited. */
  renewRecoveryCodes(
    session: Session | null,
    code: string,
    origin: RequestOrigin,
  ): Promise<{ recovery_codes: string[] }>;
  /**
   * For the command line: switches off the second factor of a user who has lost it, and ends their sessions. Returns
   * whether there was one. Throws NotFound.
   */
  reset(userId: string): Promise<boolean>;
}

export function createSecondFactorService(platform: Platform, limits: SignInLimits): SecondFactorService {
  const { config, database, clock, random, sealer, activity } = platform;
  const { reader } = database;
  const codes = createCodeVerifier(platform);
  const issuer = `Homeport ${new URL(config.publicUrl).hostname}`;

  async function status(session: Session | null) {
    const { userId } = signedIn(session);
    const factor = await findSecondFactor(reader, userId);
    return {
      enabled: factor !== undefined && factor.confirmed_at !== null,
      recovery_codes_left: await countRecoveryCodes(reader, userId),
      required_by: await findRequiringAccounts(reader, userId),
    };
  }

  async function enrol(session: Session | null, password: string) {
    const { userId } = signedIn(session);
    const person = await requireUser(userId);
    await limits.enrolment(userId);
    if (!(await verifyPassword(password, person.password_hash))) {
      throw invalidValue('SecondFactor', 'password', 'wrong', 'The password is wrong');
    }
    const secret = newTotpSecret(random);
    const uri = await totpUri(secret, person.email, issuer);
    const offered = await database.write(({ queries }) =>
      offerSecret(queries, {
        user_id: userId,
        sealed_secret: sealer.seal(secret),
        created_at: timestamp(clock),
      }),
    );
    if (!offered) throw alreadyOn();
    return { secret, uri };
  }

  async function confirm(session: Session | null, code: string, origin: RequestOrigin) {
    const confirming = signedIn(session);
    const { userId } = confirming;
    const factor = await findSecondFactor(reader, userId);
    if (!factor) throw new InvalidRequest('Start the enrolment first');
    if (factor.confirmed_at !== null) throw alreadyOn();
    const attempt = await limits.presentCode(userId);
    const digits = sixDigits(code);
    const step = digits && (await stepOfCode(sealer.open(factor.sealed_secret), digits, clock.now()));
    if (typeof step !== 'number') throw wrongCode();
    const recoveryCodes = newRecoveryCodes(random);
    const renewed = await changeUser(userId, async (transaction, person) => {
      const { queries } = transaction;
      const confirmed = { sealedSecret: factor.sealed_secret, step, now: timestamp(clock) };
      if (!(await confirmSecret(queries, userId, confirmed))) throw wrongCode();
      await replaceRecoveryCodes(queries, userId, hashesOf(recoveryCodes));
      await setMfaEnabled(queries, userId, true);
      const { renewed } = await endOtherSessions(queries, platform, confirming);
      await activity.recordForUser(
        transaction,
        portalCaller(userId, origin),
        { userId },
        { action: 'second_factor.enable', subject: { id: userId, name: person.email } },
      );
      return renewed;
    });
    attempt.succeeded();
    return { recoveryCodes, renewed };
  }

  async function remove(session: Session | null, code: string, origin: RequestOrigin): Promise<void> {
    const { userId } = signedIn(session);
    await withCode(userId, code, async (transaction, person) => {
      const { queries } = transaction;
      const [requiring] = await findRequiringAccounts(queries, userId);
      if (requiring !== undefined) {
        throw new InvalidRequest(`${requiring} requires a second factor of all its users`);
      }
      await deleteSecondFactor(queries, userId);
      await setMfaEnabled(queries, userId, false);
      await activity.recordForUser(
        transaction,
        portalCaller(userId, origin),
        { userId },
        { action: 'second_factor.disable', subject: { id: userId, name: person.email } },
      );
    });
  }

  async function renewRecoveryCodes(session: Session | null, code: string, origin: RequestOrigin) {
    const { userId } = signedIn(session);
    const recovery = newRecoveryCodes(random);
    await withCode(userId, code, async (transaction, person) => {
      await replaceRecoveryCodes(transaction.queries, userId, hashesOf(recovery));
      await activity.recordForUser(
        transaction,
        portalCaller(userId, origin),
        { userId },
        { action: 'second_factor.renew_codes', subject: { id: userId, name: person.email } },
      );
    });
    return { recovery_codes: recovery };
  }

  async function reset(userId: string): Promise<boolean> {
    return changeUser(userId, async (transaction, person) => {
      const { queries } = transaction;
      if (!(await deleteSecondFactor(queries, userId))) return false;
      await setMfaEnabled(queries, userId, false);
      await endSessionsOf(queries, userId);
      await activity.recordForUser(
        transaction,
        OPERATOR,
        { userId },
        { action: 'second_factor.disable', subject: { id: userId, name: person.email } },
      );
      return true;
    });
  }

  /** Runs `work` if the code is right, and uses the code up in the same transaction. */
  async function withCode(
    userId: string,
    code: string,
    work: (transaction: Transaction, person: UserWithPassword) => Promise<void>,
  ): Promise<void> {
    const attempt = await limits.presentCode(userId);
    const match = await codes.match(userId, code);
    if (!match) throw wrongCode();
    await changeUser(userId, async (transaction, person) => {
      if (!(await codes.use(transaction.queries, match))) throw wrongCode();
      await work(transaction, person);
    });
    attempt.succeeded();
  }

  function changeUser<Result>(
    userId: string,
    work: (transaction: Transaction, person: UserWithPassword) => Promise<Result>,
  ): Promise<Result> {
    return database.write(async (transaction) => {
      await lockRow(transaction, 'users', userId);
      const person = await findUserById(transaction.queries, userId);
      if (!person) throw new NotFound();
      return work(transaction, person);
    });
  }

  async function requireUser(userId: string): Promise<UserWithPassword> {
    const person = await findUserById(reader, userId);
    if (!person) throw new Unauthenticated('Authentication required');
    return person;
  }

  return { status, enrol, confirm, remove, renewRecoveryCodes, reset };
}

function signedIn(session: Session | null): Session {
  if (!session) throw new Error('a request reached its handler without a session');
  return session;
}

const hashesOf = (codes: readonly string[]) => codes.flatMap((code) => hashRecoveryCode(code) ?? []);

const wrongCode = () =>
  invalidValue('SecondFactor', 'code', 'wrong', 'The code is wrong or was already used');

const alreadyOn = () => new InvalidRequest('Your second factor is already on');
