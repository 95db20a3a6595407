import type { Randomness } from '../../../lib/ids.ts';
import { hashSecret } from '../../../secrets/random-secret.ts';
import { base32 } from './base32.ts';

const CODES = 10;
/** 80 bits cannot be guessed, so a fast hash is enough for storage. */
const CODE_BYTES = 10;

/** Generates recovery codes, formatted as `xxxx-xxxx-xxxx-xxxx`. */
export function newRecoveryCodes(random: Randomness): string[] {
  return Array.from({ length: CODES }, () =>
    base32(random.bytes(CODE_BYTES))
      .toLowerCase()
      .replace(/.{4}(?=.)/g, '$&-'),
  );
}

/** The stored hash of a typed recovery code, or undefined for other text. */
export function hashRecoveryCode(typed: string): string | undefined {
  const code = typed.replace(/[\s\p{Pd}]/gu, '').toLowerCase();
  return /^[a-z2-7]{16}$/.test(code) ? hashSecret(code) : undefined;
}

/** Whether typed text has the form of a recovery code. */
export const isRecoveryCode = (typed: string): boolean => hashRecoveryCode(typed) !== undefined;

/** The stored hashes of new recovery codes. */
export const hashRecoveryCodes = (codes: readonly string[]): string[] =>
  codes.flatMap((code) => hashRecoveryCode(code) ?? []);
