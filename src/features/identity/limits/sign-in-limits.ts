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

/** An attempt that has been counted as if it were wrong. */
export interface Attempt {
  /** It was right: it does not count. */
  succeeded(): void;
}

/**
 * How often somebody may be wrong. Each attempt is counted before it is looked at, so that many at once are no way
 * round a limit; and by the address that was typed, so that nothing tells whether anybody has it. On signing in, a device that the
 * person is known by (`device`) has attempts of its own, so that strangers lock out strangers; where it has used those up it is a
 * stranger as any. All throw RateLimited.
 */
export interface SignInLimits {
  /** On signing in. Who guesses from one place keeps nobody out who comes from another. */
  password(address: string, email: string, device: KnownDevice | null): Promise<Attempt>;
  /** Of somebody who is signed in and changes it, right or wrong, for it takes a while to see; */
  presentPassword(userId: string): Promise<void>;
  /** or enrols a second factor: neither is in the way of the other, nor a stranger's guesses in that of both. */
  enrolment(userId: string): Promise<void>;
  /** Passwords to be set, fit or not: it takes a while to see, so these are counted always. */
  newPassword(userId: string): Promise<void>;
  /**
   * On signing in, after the password: six digits, of which three are right at any time, are soon guessed by who may try. Whoever knows
   * the password can use up those of their own place, and from two places those of all strangers; what a known device, a recovery code
   * and a person who is signed in have is their own.
   */
  code(address: string, userId: string, device: KnownDevice | null): Promise<Attempt>;
  /** On signing in: nobody guesses one, so who comes from another place has as many. */
  recoveryCode(address: string, userId: string, device: KnownDevice | null): Promise<Attempt>;
  /** Whether a person may be told of wrong codes behind their password: once an hour. Counts it if so. */
  mayTellOfWrongCodes(userId: string): Promise<boolean>;
  /** Of either kind, of somebody who is signed in. */
  presentCode(userId: string): Promise<Attempt>;
  /** Mails that a stranger can have sent to a person. */
  resetMail(address: string, email: string): Promise<void>;
  /** Mails that somebody can have sent to an address that they say they want. */
  emailChange(userId: string, address: string, email: string): Promise<void>;
  /** Mails that a colleague can have sent to a person who is invited. */
  invitationMail(by: string, to: { accountId: string; userId: string }): Promise<void>;
}

/** A limit and the subject that it counts. */
type Counted = [FixedRateLimit, ...subject: string[]];

interface Refusal {
  resetSeconds: number;
}

/** `perMinute`: false switches off the limits by the minute (the setting of failed authentications is 0). */
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
    throw new RateLimited(outcome.resetSeconds, 'Too many attempts - please wait and try again');
  }

  /** With what a known device has of its own, and then as a stranger. */
  async function attemptOf(
    device: KnownDevice | null,
    [ofDevice, ofAll]: readonly [FixedRateLimit, FixedRateLimit],
    ...asStranger: Counted[]
  ): Promise<Attempt> {
    if (device) {
      const outcome = await count([
        [ofDevice, device.id],
        [ofAll, device.userId],
      ]);
      if ('succeeded' in outcome) return outcome;
    }
    return attempt(...asStranger);
  }
  // A key must not be whatever a stranger types.
  const personOf = (email: string) => hashSecret(emailKey(email));

  return {
    password(address, email, device) {
      const [block, person] = [addressBlock(address), personOf(email)];
      // The widest last: what a narrower one refuses must not count against the person.
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
    async mayTellOfWrongCodes(userId) {
      return 'succeeded' in (await count([[RATE_LIMITS.wrongCodeNotices, userId]]));
    },
    presentCode: (userId) => attempt([RATE_LIMITS.signedInCodes, userId]),
    async resetMail(address, email) {
      await attempt(
        [RATE_LIMITS.resetMailsByAddress, addressBlock(address)],
        [RATE_LIMITS.resetMailsByEmail, personOf(email)],
      );
    },
    async emailChange(userId, address, email) {
      await attempt(
        [RATE_LIMITS.emailChangesByAddress, addressBlock(address)],
        [RATE_LIMITS.emailChangesByUser, userId],
        [RATE_LIMITS.emailChangesByEmail, personOf(email)],
      );
    },
    async invitationMail(by, { accountId, userId }) {
      await attempt([RATE_LIMITS.invitationResends, by, accountId, userId]);
    },
  };
}
