import {
  type FixedRateLimit,
  RATE_LIMITS,
  type RateCounter,
  rateLimitKey,
} from '../../../access/rate-limits.ts';
import { addressBlock } from '../../../lib/address-block.ts';
import { MINUTE_SECONDS } from '../../../lib/durations.ts';
import { RateLimited } from '../../../lib/failures.ts';
import { hashSecret } from '../../../secrets/random-secret.ts';
import type { KnownDevice } from '../sessions/known-devices.ts';
import { emailKey } from '../users/store.ts';

/** An attempt, counted as wrong in advance. */
export interface Attempt {
  /** Takes the count back, because the attempt was right. */
  succeeded(): void;
}

/**
 * Limits wrong attempts. Each attempt is counted before it is checked, so that parallel requests cannot exceed a limit.
 * Sign-ins are counted by the entered address, so that limits do not reveal whether a user exists. A known device has
 * separate attempts, so that guessers cannot lock its user out; after those it shares the limits of unknown devices.
 * All functions throw RateLimited.
 */
export interface SignInLimits {
  /** Counts a password at sign-in. Guesses from one address do not block another. */
  password(address: string, email: string, device: KnownDevice | null): Promise<Attempt>;
  /** Counts the current password of a signed-in user, right or wrong, because checking costs CPU time. */
  presentPassword(userId: string): Promise<void>;
  /** Counts the password for a second-factor enrolment, apart from {@link presentPassword}. */
  enrolment(userId: string): Promise<void>;
  /** Counts a chosen password, strong or weak, because rating it costs CPU time. */
  newPassword(userId: string): Promise<void>;
  /**
   * Counts a one-time code at sign-in. Of the million codes three are valid at any time, so guesses must be few. An attacker
   * who knows the password can use up the attempts of unknown devices from two addresses. Known devices, recovery codes
   * and signed-in users have their own counts.
   */
  code(address: string, userId: string, device: KnownDevice | null): Promise<Attempt>;
  /** Counts a recovery code at sign-in. A code cannot be guessed, so the limit over all addresses is high. */
  recoveryCode(address: string, userId: string, device: KnownDevice | null): Promise<Attempt>;
  /** Counts a passkey at sign-in, alone or after the password. No stranger can use up the attempts of another address. */
  passkey(address: string): Promise<Attempt>;
  /** Counts a notice about wrong codes. Returns whether it may be sent: once an hour for a user. */
  allowWrongCodesNotice(userId: string): Promise<boolean>;
  /** Counts a one-time code, recovery code or passkey of a signed-in user. */
  presentCode(userId: string): Promise<Attempt>;
  /** Counts a password reset mail, which anyone can request. */
  resetMail(address: string, email: string): Promise<void>;
  /** Counts a mail to confirm a new email address. */
  emailChange(userId: string, address: string, email: string): Promise<void>;
  /** Counts a repeated invitation mail. */
  invitationMail(by: string, to: { accountId: string; userId: string }): Promise<void>;
}

/** A limit and the subject that it counts. */
type Counted = [FixedRateLimit, ...subject: string[]];

interface Refusal {
  resetSeconds: number;
}

/** `perMinute`: false switches off the limits per minute, because the limit of failed authentications is set to 0. */
export function createSignInLimits(
  counter: RateCounter,
  { perMinute }: { perMinute: boolean },
): SignInLimits {
  async function count(counted: Counted[]): Promise<Attempt | Refusal> {
    const spent: { key: string; windowSeconds: number }[] = [];
    for (const [limit, ...subject] of counted) {
      const { size, windowSeconds, always } = limit;
      if (windowSeconds === MINUTE_SECONDS && !perMinute && !always) continue;
      const key = rateLimitKey(limit, ...subject);
      const { allowed, resetSeconds } = await counter.spend(key, size, windowSeconds);
      if (!allowed) return { resetSeconds };
      spent.push({ key, windowSeconds });
    }
    return {
      succeeded() {
        for (const { key, windowSeconds } of spent.splice(0)) counter.refund(key, windowSeconds);
      },
    };
  }

  async function attempt(...counted: Counted[]): Promise<Attempt> {
    const outcome = await count(counted);
    if ('succeeded' in outcome) return outcome;
    throw new RateLimited(outcome.resetSeconds, 'Too many attempts');
  }

  /** Counts against a known device first, then against the limits of unknown devices. */
  async function attemptOf(
    device: KnownDevice | null,
    [ofDevice, ofAll]: readonly [FixedRateLimit, FixedRateLimit],
    ...asUnknown: Counted[]
  ): Promise<Attempt> {
    if (device) {
      const outcome = await count([
        [ofDevice, device.id],
        [ofAll, device.userId],
      ]);
      if ('succeeded' in outcome) return outcome;
    }
    return attempt(...asUnknown);
  }
  // Hashed, since anyone can enter any address.
  const emailHash = (email: string) => hashSecret(emailKey(email));

  return {
    password(address, email, device) {
      const [block, person] = [addressBlock(address), emailHash(email)];
      // The widest limit last: attempts that a narrower one refuses must not count against the user.
      return attemptOf(
        device,
        [RATE_LIMITS.signInByDevice, RATE_LIMITS.signInByAllDevices],
        [RATE_LIMITS.signInByAddress, block],
        [RATE_LIMITS.signInByEmailAndAddress, person, block],
        [RATE_LIMITS.signInByEmail, person],
      );
    },
    async presentPassword(userId) {
      await attempt([RATE_LIMITS.currentPasswords, userId]);
    },
    async enrolment(userId) {
      await attempt([RATE_LIMITS.secondFactorEnrolments, userId]);
    },
    async newPassword(userId) {
      await attempt([RATE_LIMITS.newPasswords, userId]);
    },
    code: (address, userId, device) =>
      attemptOf(
        device,
        [RATE_LIMITS.codesByDevice, RATE_LIMITS.codesByAllDevices],
        [RATE_LIMITS.codesByUserAndAddress, userId, addressBlock(address)],
        [RATE_LIMITS.codesByUser, userId],
      ),
    recoveryCode: (address, userId, device) =>
      attemptOf(
        device,
        [RATE_LIMITS.recoveryCodesByDevice, RATE_LIMITS.recoveryCodesByAllDevices],
        [RATE_LIMITS.recoveryCodesByUserAndAddress, userId, addressBlock(address)],
        [RATE_LIMITS.recoveryCodesByUser, userId],
      ),
    passkey: (address) => attempt([RATE_LIMITS.passkeysByAddress, addressBlock(address)]),
    async allowWrongCodesNotice(userId) {
      return 'succeeded' in (await count([[RATE_LIMITS.wrongCodeNotices, userId]]));
    },
    presentCode: (userId) => attempt([RATE_LIMITS.signedInCodes, userId]),
    async resetMail(address, email) {
      await attempt(
        [RATE_LIMITS.resetMailsByAddress, addressBlock(address)],
        [RATE_LIMITS.resetMailsByEmail, emailHash(email)],
      );
    },
    async emailChange(userId, address, email) {
      await attempt(
        [RATE_LIMITS.emailChangesByAddress, addressBlock(address)],
        [RATE_LIMITS.emailChangesByUser, userId],
        [RATE_LIMITS.emailChangesByEmail, emailHash(email)],
      );
    },
    async invitationMail(by, { accountId, userId }) {
      await attempt([RATE_LIMITS.invitationResends, by, accountId, userId]);
    },
  };
}
