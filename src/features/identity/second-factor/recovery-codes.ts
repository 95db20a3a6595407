import type { Randomness } from '../../../lib/ids.ts';
import { hashSecret } from '../../../secrets/random-secret.ts';
import { base32 } from './base32.ts';

const CODES = 10;
/** 80 bits: no list holds them and nobody guesses one, so a fast hash is enough to store. */
const CODE_BYTES = 10;

/** New recovery codes as they are shown: `xxxx-xxxx-xxxx-xxxx`. */
export function newRecoveryCodes(random: Randomness): string[] {
  return Array.from({ length: CODES }, () =>
    base32(random.bytes(CODE_BYTES))
      .toLowerCase()
      .replace(/.{4}(?=.)/g, '$&-'),
  );
}

/** How the recovery code that somebody typed is stored, or undefined if what they typed is none. */
export function hashRecoveryCode(typed: string): string | undefined {
  const code = typed.replace(/[\s\p{Pd}]/gu, '').toLowerCase();
  return /^[a-z2-7]{16}$/.test(code) ? hashSecret(code) : undefined;
}

/** Whether a typed text is meant as a recovery code, and not as a code of the app. */
export const isRecoveryCode = (typed: string): boolean => hashRecoveryCode(typed) !== undefined;
