import { addressBlock } from '../../../lib/address-block.ts';
import { HOUR_SECONDS as HOUR, MINUTE_SECONDS as MINUTE } from '../../../lib/durations.ts';
import { RateLimited } from '../../../lib/failures.ts';
import { hashSecret } from '../../../secrets/random-secret.ts';
import type { KnownDevice } from '../sessions/known-devices.ts';
import { emailKey } from '../users/store.ts';

/** What counts attempts, across all processes (api/limits.ts). */
export interface AttemptCounter {
  spend(key: string, limit: number, windowSeconds?: number): Promise<Decision> | Decision;
  refund(key: string, windowSeconds?: number): void;
}

interface Decision {
  allowed: boolean;
  resetSeconds: number;
}

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

interface Limit {
  name: string;
  limit: number;
  windowSeconds: number;
  /** It is there for the time that an attempt takes, so it holds where the limits by the minute are switched off, too. */
  always?: true;
}

const PASSWORDS_OF_ADDRESS: Limit = { name: 'sign-in:address', limit: 30, windowSeconds: MINUTE };
const PASSWORDS_FROM_ADDRESS: Limit = { name: 'sign-in:person-address', limit: 10, windowSeconds: MINUTE };
/** From wherever, with those of known devices a hundred. */
const PASSWORDS_OF_PERSON: Limit = { name: 'sign-in:person', limit: 90, windowSeconds: MINUTE };
const PRESENT_PASSWORDS: Limit = { name: 'password:person', limit: 10, windowSeconds: MINUTE };
const NEW_PASSWORDS: Limit = {
  name: 'new-password:person',
  limit: 10,
  windowSeconds: MINUTE,
  always: true,
};
const ENROLMENTS: Limit = { name: 'enrolment:person', limit: 10, windowSeconds: MINUTE };
const CODES_FROM_ADDRESS: Limit = { name: 'codes:person-address', limit: 5, windowSeconds: HOUR };
/** From wherever: one place leaves half of them, and in a month of trying one in 46 would guess right. */
const CODES_OF_PERSON: Limit = { name: 'codes:person', limit: 10, windowSeconds: HOUR };
const PRESENT_CODES: Limit = { name: 'present-codes:person', limit: 10, windowSeconds: HOUR };
const RECOVERY_CODES_FROM_ADDRESS: Limit = {
  name: 'recovery-codes:person-address',
  limit: 10,
  windowSeconds: HOUR,
};
/** From wherever: of 2^80 that is nothing, and many places are needed to use it up. */
const RECOVERY_CODES_OF_PERSON: Limit = { name: 'recovery-codes:person', limit: 1000, windowSeconds: HOUR };
/** Of one known device, and of all those of its person: whoever has stolen the cookie of one leaves the others half. */
const DEVICE_LIMITS = {
  passwords: [
    { name: 'sign-in:device', limit: 5, windowSeconds: MINUTE },
    { name: 'sign-in:devices', limit: 10, windowSeconds: MINUTE },
  ],
  codes: [
    { name: 'codes:device', limit: 5, windowSeconds: HOUR },
    { name: 'codes:devices', limit: 10, windowSeconds: HOUR },
  ],
  recoveryCodes: [
    { name: 'recovery-codes:device', limit: 5, windowSeconds: HOUR },
    { name: 'recovery-codes:devices', limit: 10, windowSeconds: HOUR },
  ],
} as const satisfies Record<string, readonly [ofDevice: Limit, ofAll: Limit]>;
const TOLD_WRONG_CODES: Limit = { name: 'told-wrong-codes:person', limit: 1, windowSeconds: HOUR };
const RESETS_OF_ADDRESS: Limit = { name: 'resets:address', limit: 10, windowSeconds: MINUTE };
const RESETS_OF_PERSON: Limit = { name: 'resets:person', limit: 5, windowSeconds: HOUR };
const NEW_ADDRESSES_OF_ADDRESS: Limit = { name: 'new-address:address', limit: 10, windowSeconds: MINUTE };
const NEW_ADDRESSES_OF_PERSON: Limit = { name: 'new-address:person', limit: 5, windowSeconds: HOUR };
const NEW_ADDRESSES: Limit = { name: 'new-address:email', limit: 5, windowSeconds: HOUR };
const INVITATIONS_OF_PERSON: Limit = { name: 'invitations:person', limit: 5, windowSeconds: HOUR };

/** What an attempt is counted by, and of whom. */
type Counted = [Limit, of: string];

interface Refusal {
  resetSeconds: number;
}

/** `perMinute`: false switches off the limits by the minute (the setting of failed authentications is 0). */
export function createSignInLimits(
  counter: AttemptCounter,
  { perMinute }: { perMinute: boolean },
): SignInLimits {
  async function count(counted: Counted[]): Promise<Attempt | Refusal> {
    const spent: { key: string; windowSeconds: number }[] = [];
    for (const [{ name, limit, windowSeconds, always }, of] of counted) {
      if (windowSeconds === MINUTE && !perMinute && !always) continue;
      const key = `${name}:${of}`;
      const { allowed, resetSeconds } = await counter.spend(key, limit, windowSeconds);
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
    [ofDevice, ofAll]: readonly [Limit, Limit],
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
        DEVICE_LIMITS.passwords,
        [PASSWORDS_OF_ADDRESS, block],
        [PASSWORDS_FROM_ADDRESS, `${person}:${block}`],
        [PASSWORDS_OF_PERSON, person],
      );
    },
    async presentPassword(userId) {
      await attempt([PRESENT_PASSWORDS, userId]);
    },
    async enrolment(userId) {
      await attempt([ENROLMENTS, userId]);
    },
    async newPassword(userId) {
      await attempt([NEW_PASSWORDS, userId]);
    },
    code: (address, userId, device) =>
      attemptOf(
        device,
        DEVICE_LIMITS.codes,
        [CODES_FROM_ADDRESS, `${userId}:${addressBlock(address)}`],
        [CODES_OF_PERSON, userId],
      ),
    recoveryCode: (address, userId, device) =>
      attemptOf(
        device,
        DEVICE_LIMITS.recoveryCodes,
        [RECOVERY_CODES_FROM_ADDRESS, `${userId}:${addressBlock(address)}`],
        [RECOVERY_CODES_OF_PERSON, userId],
      ),
    async mayTellOfWrongCodes(userId) {
      return 'succeeded' in (await count([[TOLD_WRONG_CODES, userId]]));
    },
    presentCode: (userId) => attempt([PRESENT_CODES, userId]),
    async resetMail(address, email) {
      await attempt([RESETS_OF_ADDRESS, addressBlock(address)], [RESETS_OF_PERSON, personOf(email)]);
    },
    async emailChange(userId, address, email) {
      await attempt(
        [NEW_ADDRESSES_OF_ADDRESS, addressBlock(address)],
        [NEW_ADDRESSES_OF_PERSON, userId],
        [NEW_ADDRESSES, personOf(email)],
      );
    },
    async invitationMail(by, { accountId, userId }) {
      await attempt([INVITATIONS_OF_PERSON, `${by}:${accountId}:${userId}`]);
    },
  };
}
