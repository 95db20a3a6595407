import { createHmac, hash, timingSafeEqual } from 'node:crypto';
import type { Queries } from '../../../database/database.ts';
import { type Clock, timestamp } from '../../../lib/clock.ts';
import { MINUTE_MS } from '../../../lib/durations.ts';
import type { Randomness } from '../../../lib/ids.ts';
import type { Sealer } from '../../../secrets/sealer.ts';
import { addSpentChallenge } from './store.ts';

export const CHALLENGE_MS = 5 * MINUTE_MS;

/** `sign_in`: a passkey alone. `second_factor`: after the password. `confirmation`: a signed-in user confirms a change. */
export type ChallengePurpose = 'registration' | 'sign_in' | 'second_factor' | 'confirmation';

/** What a challenge is for, and the only browser that may answer it. */
export interface ChallengeUse {
  purpose: ChallengePurpose;
  /** The id of the session, or the token of a browser that has none. */
  browser: string;
}

const EXPIRY_BYTES = 8;
const NONCE_BYTES = 16;
const SIGNED_BYTES = EXPIRY_BYTES + NONCE_BYTES;
const BYTES = SIGNED_BYTES + 32;

export interface Challenges {
  issue(use: ChallengeUse): string;
  /** Whether this platform issued the challenge for this use, at most five minutes ago. */
  isCurrent(challenge: string, use: ChallengeUse): boolean;
  /** Uses the challenge up. Returns false if it was used before. */
  spend(queries: Queries, challenge: string): Promise<boolean>;
}

/**
 * Challenges for passkeys. They are signed instead of stored, so that strangers who open the sign-in page fill no table. Only those of
 * accepted answers are stored, until they expire.
 */
export function createChallenges({
  sealer,
  clock,
  random,
}: {
  sealer: Sealer;
  clock: Clock;
  random: Randomness;
}): Challenges {
  const key = sealer.derive('passkey_challenges');
  const signatureOf = (signed: Buffer, { purpose, browser }: ChallengeUse) =>
    createHmac('sha256', key).update(`${purpose}\0${browser}\0`).update(signed).digest();

  return {
    issue(use) {
      const signed = Buffer.alloc(SIGNED_BYTES);
      signed.writeBigUInt64BE(BigInt(clock.now().getTime() + CHALLENGE_MS));
      random.bytes(NONCE_BYTES).copy(signed, EXPIRY_BYTES);
      return Buffer.concat([signed, signatureOf(signed, use)]).toString('base64url');
    },
    isCurrent(challenge, use) {
      const bytes = Buffer.from(challenge, 'base64url');
      if (bytes.length !== BYTES) return false;
      const signed = bytes.subarray(0, SIGNED_BYTES);
      if (!timingSafeEqual(bytes.subarray(SIGNED_BYTES), signatureOf(signed, use))) return false;
      return signed.readBigUInt64BE() > BigInt(clock.now().getTime());
    },
    spend: (queries, challenge) =>
      addSpentChallenge(queries, {
        // Hashed as bytes, because several texts decode to the same ones.
        challenge_hash: hash('sha256', Buffer.from(challenge, 'base64url'), 'hex'),
        expires_at: timestamp(clock, CHALLENGE_MS),
      }),
  };
}
