import { OPERATOR, portalCaller, type RequestOrigin } from '../../../access/caller.ts';
import type { Session } from '../../../access/session.ts';
import type { Transaction } from '../../../database/database.ts';
import { lockRow } from '../../../database/lock.ts';
import { timestamp } from '../../../lib/clock.ts';
import { InvalidRequest, NotFound } from '../../../lib/failures.ts';
import type { Platform } from '../../../platform/platform.ts';
import type { SignInLimits } from '../limits/sign-in-limits.ts';
import { endOtherSessions, endSessionsOf } from '../sessions/ending.ts';
import type { RenewedSession } from '../sessions/token.ts';
import { findUserById, type UserWithPassword } from '../users/store.ts';
import { countPasskeys, deletePasskeysOf } from '../webauthn/store.ts';
import { createConfirmation, wrongFactor } from './confirmation.ts';
import { hashRecoveryCodes, newRecoveryCodes } from './recovery-codes.ts';
import { requireNoAccountNeedsFactor } from './requirement.ts';
import type { PresentedFactor, PresentedIdentity } from './schema.ts';
import {
  confirmSecret,
  countRecoveryCodes,
  deleteSecondFactor,
  findRequiringAccounts,
  findSecondFactor,
  offerSecret,
  replaceRecoveryCodes,
  switchOff,
  switchOn,
} from './store.ts';
import { newTotpSecret, sixDigits, stepOfCode, totpUri } from './totp.ts';
import { createFactorVerifier } from './verification.ts';

export interface SecondFactorService {
  status(session: Session | null): Promise<SecondFactorStatus>;
  /**
   * Starts an enrolment of one-time codes. Throws InvalidRequest if the password, or the second factor of a user who has a passkey, is
   * wrong or one-time codes are already on, RateLimited.
   */
  enrol(
    session: Session | null,
    presented: PresentedIdentity,
    origin: RequestOrigin,
  ): Promise<{ secret: string; uri: string }>;
  /**
   * Switches one-time codes on. Gives the session a new token and ends the user's other sessions. Throws
   * InvalidRequest if the code is wrong, RateLimited.
   */
  confirm(
    session: Session | null,
    code: string,
    origin: RequestOrigin,
  ): Promise<{ recoveryCodes: string[]; renewed: RenewedSession }>;
  /**
   * Switches one-time codes off. Passkeys and recovery codes stay. Throws InvalidRequest if the second factor is wrong, or none would
   * be left and an account requires one, RateLimited.
   */
  remove(session: Session | null, presented: PresentedFactor, origin: RequestOrigin): Promise<void>;
  /** Replaces the recovery codes. Throws InvalidRequest if the second factor is wrong, RateLimited. */
  renewRecoveryCodes(
    session: Session | null,
    presented: PresentedFactor,
    origin: RequestOrigin,
  ): Promise<{ recovery_codes: string[] }>;
  /**
   * For the command line: switches off the second factor of a user who has lost it, passkeys included, and ends their sessions.
   * Returns whether there was one, and how many passkeys were removed. Throws NotFound.
   */
  reset(userId: string): Promise<{ hadFactor: boolean; passkeys: number }>;
}

export interface SecondFactorStatus {
  /** The password alone does not sign in. */
  enabled: boolean;
  one_time_codes: boolean;
  passkeys: number;
  recovery_codes_left: number;
  /** Names of the accounts that require a second factor. */
  required_by: string[];
}

const RESOURCE = 'SecondFactor';

export function createSecondFactorService(platform: Platform, limits: SignInLimits): SecondFactorService {
  const { config, database, clock, random, sealer, activity } = platform;
  const { reader } = database;
  const factors = createFactorVerifier(platform);
  const { requireIdentity, requireFactor } = createConfirmation(reader, limits, factors);
  const issuer = `Homeport ${new URL(config.publicUrl).hostname}`;

  async function status(session: Session | null) {
    const { userId } = signedIn(session);
    const factor = await findSecondFactor(reader, userId);
    const oneTimeCodes = factor !== undefined && factor.confirmed_at !== null;
    const passkeys = await countPasskeys(reader, userId);
    return {
      enabled: oneTimeCodes || passkeys > 0,
      one_time_codes: oneTimeCodes,
      passkeys,
      recovery_codes_left: await countRecoveryCodes(reader, userId),
      required_by: await findRequiringAccounts(reader, userId),
    };
  }

  const enrol: SecondFactorService['enrol'] = async (session, presented, origin) => {
    const present = signedIn(session);
    const { userId } = present;
    if ((await findSecondFactor(reader, userId))?.confirmed_at) throw alreadyOn();
    const proof = await requireIdentity(present, presented, { resource: RESOURCE, origin });
    const secret = newTotpSecret(random);
    const uri = await changeUser(userId, async ({ queries }, person) => {
      if (proof && !(await factors.use(queries, proof.match))) throw wrongFactor(RESOURCE, presented);
      const offered = await offerSecret(queries, {
        user_id: userId,
        sealed_secret: sealer.seal(secret),
        created_at: timestamp(clock),
      });
      if (!offered) throw alreadyOn();
      return totpUri(secret, person.email, issuer);
    });
    proof?.attempt.succeeded();
    return { secret, uri };
  };

  async function confirm(session: Session | null, code: string, origin: RequestOrigin) {
    const confirming = signedIn(session);
    const { userId } = confirming;
    const factor = await findSecondFactor(reader, userId);
    if (!factor) throw new InvalidRequest('Start the enrolment first');
    if (factor.confirmed_at !== null) throw alreadyOn();
    const attempt = await limits.presentCode(userId);
    const digits = sixDigits(code);
    const step = digits && (await stepOfCode(sealer.open(factor.sealed_secret), digits, clock.now()));
    if (typeof step !== 'number') throw wrongFactor(RESOURCE, { code });
    const recoveryCodes = newRecoveryCodes(random);
    const renewed = await changeUser(userId, async (transaction, person) => {
      const { queries } = transaction;
      const confirmed = { sealedSecret: factor.sealed_secret, step, now: timestamp(clock) };
      if (!(await confirmSecret(queries, userId, confirmed))) throw wrongFactor(RESOURCE, { code });
      await replaceRecoveryCodes(queries, userId, hashRecoveryCodes(recoveryCodes));
      await switchOn(queries, userId);
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

  const remove: SecondFactorService['remove'] = async (session, presented, origin) => {
    const { userId } = signedIn(session);
    await withFactor(session, presented, origin, async (transaction, person) => {
      const { queries } = transaction;
      const passkeys = await countPasskeys(queries, userId);
      if (passkeys === 0) await requireNoAccountNeedsFactor(queries, userId);
      await deleteSecondFactor(queries, userId);
      if (passkeys === 0) await switchOff(queries, userId);
      await activity.recordForUser(
        transaction,
        portalCaller(userId, origin),
        { userId },
        {
          action: 'second_factor.disable',
          subject: { id: userId, name: person.email },
          ...(passkeys > 0 && { details: { passkeys } }),
        },
      );
    });
  };

  const renewRecoveryCodes: SecondFactorService['renewRecoveryCodes'] = async (
    session,
    presented,
    origin,
  ) => {
    const { userId } = signedIn(session);
    const recovery = newRecoveryCodes(random);
    await withFactor(session, presented, origin, async (transaction, person) => {
      await replaceRecoveryCodes(transaction.queries, userId, hashRecoveryCodes(recovery));
      await activity.recordForUser(
        transaction,
        portalCaller(userId, origin),
        { userId },
        { action: 'second_factor.renew_codes', subject: { id: userId, name: person.email } },
      );
    });
    return { recovery_codes: recovery };
  };

  const reset: SecondFactorService['reset'] = async (userId) =>
    changeUser(userId, async (transaction, person) => {
      const { queries } = transaction;
      const passkeys = await deletePasskeysOf(queries, userId);
      const hadCodes = await deleteSecondFactor(queries, userId);
      if (!hadCodes && passkeys === 0) return { hadFactor: false, passkeys };
      await switchOff(queries, userId);
      await endSessionsOf(queries, userId);
      await activity.recordForUser(
        transaction,
        OPERATOR,
        { userId },
        { action: 'second_factor.disable', subject: { id: userId, name: person.email } },
      );
      return { hadFactor: true, passkeys };
    });

  /** Runs `work` if the second factor is right, and uses it up in the same transaction. */
  async function withFactor(
    session: Session | null,
    presented: PresentedFactor,
    origin: RequestOrigin,
    work: (transaction: Transaction, person: UserWithPassword) => Promise<void>,
  ): Promise<void> {
    const present = signedIn(session);
    const { match, attempt } = await requireFactor(present, presented, { resource: RESOURCE, origin });
    await changeUser(present.userId, async (transaction, person) => {
      if (!(await factors.use(transaction.queries, match))) throw wrongFactor(RESOURCE, presented);
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

  return { status, enrol, confirm, remove, renewRecoveryCodes, reset };
}

function signedIn(session: Session | null): Session {
  if (!session) throw new Error('a request reached its handler without a session');
  return session;
}

const alreadyOn = () => new InvalidRequest('One-time codes are already on');
