import type { Static } from 'typebox';
import { type BrowserOrigin, portalCaller } from '../../../access/caller.ts';
import { reachOf } from '../../../access/permissions.ts';
import type { Session, SessionStage, SessionVerifier } from '../../../access/session.ts';
import type { Queries } from '../../../database/database.ts';
import { minuteOf } from '../../../database/last-uses.ts';
import { lockRow } from '../../../database/lock.ts';
import { offeredBy } from '../../../hosting/policy/capabilities.ts';
import { timestamp } from '../../../lib/clock.ts';
import { Unauthenticated } from '../../../lib/failures.ts';
import type { Platform } from '../../../platform/platform.ts';
import { releaseNoticeFor } from '../../../releases/release-notices.ts';
import { verifyPassword } from '../../../secrets/password-hash.ts';
import { hashSecret } from '../../../secrets/random-secret.ts';
import type { SignInLimits } from '../limits/sign-in-limits.ts';
import { isRecoveryCode } from '../second-factor/recovery-codes.ts';
import type { PresentedFactor } from '../second-factor/schema.ts';
import { findSecondFactor, resetWrongCodes } from '../second-factor/store.ts';
import { createFactorVerifier } from '../second-factor/verification.ts';
import { endSurplusSessions } from '../sessions/ending.ts';
import { knownDevice, rememberDevice } from '../sessions/known-devices.ts';
import { createLastSeen } from '../sessions/last-seen.ts';
import type { presentSessionSchema } from '../sessions/schema.ts';
import { cookieEndOf, endOf, MAX_AGE_MS, SECOND_FACTOR_MS, stageOf } from '../sessions/state.ts';
import {
  addSession,
  deleteSession,
  findFactorState,
  type KnownSession,
  prepareFindSession,
  takeAwaitingSession,
} from '../sessions/store.ts';
import {
  type BrowserToken,
  isBrowserToken,
  newBrowserToken,
  type RenewedSession,
} from '../sessions/token.ts';
import { emailKey, findAccountsOf, findUserByEmail, findUserById, findUserProfile } from '../users/store.ts';
import { CHALLENGE_MS } from '../webauthn/challenges.ts';
import type { Assertion, RequestOptions } from '../webauthn/schema.ts';
import { countPasskeys } from '../webauthn/store.ts';
import { createPasskeyVerifier } from '../webauthn/verifier.ts';
import { createOwnSessions, type OwnSessions } from './own-sessions.ts';
import { createWrongCodeCounter } from './wrong-codes.ts';

/** The cookies and stage of a session after a right password, passkey or code. */
export interface NewSession extends RenewedSession {
  stage: SessionStage;
}

export interface SignIn extends SignInVisit {
  email: string;
  password: string;
}

export interface PasskeySignIn extends SignInVisit {
  passkey: Assertion;
  /** The token of the browser that asked for the challenge; null: none. */
  passkeyBrowser: string | null;
}

/** The browser in which someone signs in. */
interface SignInVisit {
  address: string;
  userAgent: string | null;
  requestId: string;
  /** The browser's existing session, which ends. */
  replaced: Session | null;
  /** The device token of the browser. */
  device: string | null;
}

export interface SessionService extends SessionVerifier, OwnSessions {
  /** Signs in with a password, up to the stage before a second factor. Throws Unauthenticated, RateLimited. */
  signIn(attempt: SignIn): Promise<NewSession>;
  /**
   * Request options for a passkey that signs in alone, and the token of the browser that may answer. A browser keeps its token, so that
   * its windows do not disturb each other. Throws InvalidRequest without a host name.
   */
  passkeyOptions(browser: string | null): Promise<{ options: RequestOptions; browser: BrowserToken }>;
  /**
   * Signs in with a passkey alone, which is two factors: the device and what unlocks it. Throws Unauthenticated, RateLimited.
   */
  signInWithPasskey(attempt: PasskeySignIn): Promise<NewSession>;
  /** Request options for a passkey after the password. Throws InvalidRequest without a host name. */
  secondFactorOptions(session: Session): Promise<RequestOptions>;
  /** Completes a sign-in with a code or a passkey. Throws Unauthenticated, RateLimited. */
  passSecondFactor(session: Session, presented: PresentedFactor, origin: BrowserOrigin): Promise<NewSession>;
  present(session: Session): Promise<Static<typeof presentSessionSchema>>;
  /** Stores last-seen times that are still in memory. */
  flush(): Promise<void>;
}

/** Characters of `User-Agent` to store. */
const MAX_USER_AGENT = 400;

export function createSessionService(platform: Platform, limits: SignInLimits): SessionService {
  const { config, database, clock, random, activity, log } = platform;
  const { reader } = database;
  const find = prepareFindSession(database);
  const passkeys = createPasskeyVerifier(platform);
  const factors = createFactorVerifier(platform, passkeys);
  const countWrongCode = createWrongCodeCounter(platform, limits);
  const lastSeen = createLastSeen(database, (error) =>
    log.warn({ err: error }, 'could not store the last use of sessions'),
  );

  /**
   * Starts a session with a new token. If the user is fully signed in, the browser becomes a known device. The user's row
   * must be locked.
   */
  async function begin(
    queries: Queries,
    session: {
      userId: string;
      awaitsSecondFactor: boolean;
      address: string;
      userAgent: string | null;
      device: string | null;
    },
  ): Promise<{ id: string; made: NewSession }> {
    const now = clock.now();
    const expires_at = timestamp(clock, session.awaitsSecondFactor ? SECOND_FACTOR_MS : MAX_AGE_MS);
    const token = newBrowserToken(random);
    const id = random.uuid();
    await addSession(queries, {
      id,
      token_hash: hashSecret(token),
      user_id: session.userId,
      awaits_second_factor: session.awaitsSecondFactor,
      address: session.address,
      user_agent: session.userAgent?.slice(0, MAX_USER_AGENT) ?? null,
      last_seen_at: minuteOf(now),
      expires_at,
      created_at: now.toISOString(),
    });
    if (!session.awaitsSecondFactor) {
      await endSurplusSessions(queries, {
        userId: session.userId,
        now: now.toISOString(),
        lastSeenOf: lastSeen.of,
      });
    }
    const known = { userId: session.userId, sessionId: id, former: session.device };
    const device = session.awaitsSecondFactor ? null : await rememberDevice(queries, platform, known);
    const factor = await findFactorState(queries, session.userId);
    const stage = stageOf({ ...factor, awaits_second_factor: session.awaitsSecondFactor });
    return { id, made: { token, expiresAt: cookieEndOf({ expires_at }), stage, device } };
  }

  const isOver = ({ id, last_seen_at, expires_at }: KnownSession): boolean =>
    endOf({ last_seen_at: lastSeen.of({ id, last_seen_at }), expires_at }) <= timestamp(clock);

  async function hasExpired(token: string): Promise<boolean> {
    const [session] = await find({ tokenHash: hashSecret(token) });
    return session !== undefined && isOver(session);
  }

  async function verify(token: string, isUse: boolean): Promise<Session | null> {
    const [session] = await find({ tokenHash: hashSecret(token) });
    if (!session || isOver(session)) return null;
    if (isUse) lastSeen.note(session, clock.now());
    return { id: session.id, userId: session.user_id, stage: stageOf(session) };
  }

  async function signIn({ email, password, address, userAgent, requestId, replaced, device }: SignIn) {
    const key = emailKey(email);
    const known = await knownDevice(reader, clock, device, ({ email_key }) => email_key === key);
    const attempt = await limits.password(address, email, known);
    const person = await findUserByEmail(reader, key);
    const right = await verifyPassword(password, person?.password_hash ?? null);
    if (!person || !right) throw new Unauthenticated('Bad Credentials');
    const made = await database.write(async (transaction) => {
      const { queries } = transaction;
      await lockRow(transaction, 'users', person.id);
      // A password change meanwhile has ended all sessions, so it must refuse this one, too.
      const present = await findUserById(queries, person.id);
      if (present?.password_hash !== person.password_hash) throw new Unauthenticated('Bad Credentials');
      if (replaced) await deleteSession(queries, replaced);
      const { mfa_enabled: awaitsSecondFactor } = await findFactorState(queries, person.id);
      const begun = await begin(queries, {
        userId: person.id,
        awaitsSecondFactor,
        address,
        userAgent,
        device,
      });
      if (!awaitsSecondFactor) {
        await activity.recordForUser(
          transaction,
          portalCaller(person.id, { address, requestId }),
          { userId: person.id },
          {
            action: 'session.create',
            subject: { id: begun.id, name: person.email },
          },
        );
      }
      return begun.made;
    });
    attempt.succeeded();
    return made;
  }

  const passkeyOptions: SessionService['passkeyOptions'] = async (browser) => {
    const token = browser !== null && isBrowserToken(browser) ? browser : newBrowserToken(random);
    return {
      options: await passkeys.options({ purpose: 'sign_in', browser: token }),
      browser: { token, expiresAt: new Date(clock.now().getTime() + CHALLENGE_MS) },
    };
  };

  const signInWithPasskey: SessionService['signInWithPasskey'] = async ({ passkey, ...visit }) => {
    const { passkeyBrowser, address, userAgent, requestId, replaced, device } = visit;
    const attempt = await limits.passkey(address);
    if (passkeyBrowser === null) throw new Unauthenticated('Bad Credentials');
    const use = { purpose: 'sign_in', browser: passkeyBrowser } as const;
    const match = await passkeys.match(passkey, { use, origin: { address, requestId } });
    if (!match) throw new Unauthenticated('Bad Credentials');
    const { userId } = match;
    const made = await database.write(async (transaction) => {
      const { queries } = transaction;
      await lockRow(transaction, 'users', userId);
      const person = await findUserById(queries, userId);
      if (!person || !(await passkeys.use(queries, match))) throw new Unauthenticated('Bad Credentials');
      if (replaced) await deleteSession(queries, replaced);
      await resetWrongCodes(queries, userId);
      const begun = await begin(queries, { userId, awaitsSecondFactor: false, address, userAgent, device });
      await activity.recordForUser(
        transaction,
        portalCaller(userId, { address, requestId }),
        { userId },
        {
          action: 'session.create',
          subject: { id: begun.id, name: person.email },
          details: { passkey: true },
        },
      );
      return begun.made;
    });
    attempt.succeeded();
    return made;
  };

  /** Counts a second factor of a sign-in as wrong until it succeeds. */
  async function countFactor(userId: string, { code }: PresentedFactor, origin: BrowserOrigin) {
    if (code === undefined) return limits.passkey(origin.address);
    const known = await knownDevice(reader, clock, origin.device, ({ user_id }) => user_id === userId);
    return isRecoveryCode(code)
      ? limits.recoveryCode(origin.address, userId, known)
      : limits.code(origin.address, userId, known);
  }

  async function passSecondFactor(session: Session, presented: PresentedFactor, origin: BrowserOrigin) {
    const { userId } = session;
    const attempt = await countFactor(userId, presented, origin);
    const match = await factors.match(session, presented, origin);
    const made =
      match &&
      (await database.write(async (transaction) => {
        const { queries } = transaction;
        await lockRow(transaction, 'users', userId);
        const person = await findUserById(queries, userId);
        if (!person || !(await factors.use(queries, match))) return undefined;
        await resetWrongCodes(queries, userId);
        const awaiting = await takeAwaitingSession(queries, session.id);
        if (!awaiting) throw new Unauthenticated('Authentication required');
        const begun = await begin(queries, {
          userId,
          awaitsSecondFactor: false,
          address: origin.address,
          userAgent: awaiting.user_agent,
          device: origin.device,
        });
        await activity.recordForUser(
          transaction,
          portalCaller(userId, origin),
          { userId },
          {
            action: 'session.create',
            subject: { id: begun.id, name: person.email },
            details: { second_factor: match.kind },
          },
        );
        return begun.made;
      }));
    if (!made) {
      await countWrongCode(session, origin);
      throw new Unauthenticated('Wrong code');
    }
    attempt.succeeded();
    return made;
  }

  async function factorsOf(userId: string) {
    const codes = await findSecondFactor(reader, userId);
    const hasCodes = codes !== undefined && codes.confirmed_at !== null;
    const hasPasskeys = (await countPasskeys(reader, userId)) > 0;
    return [...(hasCodes ? ['one_time_code' as const] : []), ...(hasPasskeys ? ['passkey' as const] : [])];
  }

  async function present({ userId, stage }: Session) {
    const person = await findUserProfile(reader, userId);
    if (!person) throw new Unauthenticated('Authentication required');
    // The password alone must reveal nothing more about the user.
    const user =
      stage === 'second_factor' ? { ...person, first_name: '', last_name: '', phone: null } : person;
    const accounts = stage === 'full' ? await findAccountsOf(reader, userId) : [];
    const newer = await releaseNoticeFor(reader, config, { email: person.email, accounts });
    return {
      stage,
      second_factors: stage === 'second_factor' ? await factorsOf(userId) : [],
      user,
      accounts: accounts
        .sort((one, other) => one.name.localeCompare(other.name, 'en'))
        .map((account) => ({ ...account, may: reachOf(account.role) })),
      newer_release: newer && { version: newer.version, notes: newer.notes, security: newer.security },
      wordpress_features: offeredBy(config.host),
    };
  }

  return {
    verify,
    hasExpired,
    signIn,
    passkeyOptions,
    signInWithPasskey,
    secondFactorOptions: ({ id: browser, userId }) =>
      passkeys.options({ purpose: 'second_factor', browser }, userId),
    passSecondFactor,
    present,
    ...createOwnSessions(platform, lastSeen),
    flush: lastSeen.flush,
  };
}
