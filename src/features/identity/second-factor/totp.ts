import type { Randomness } from '../../../lib/ids.ts';
import { base32 } from './base32.ts';

/** RFC 4226, section 4, R6: 160 bits. */
const SECRET_BYTES = 20;
/** RFC 6238, section 4.1. */
const STEP_SECONDS = 30;

export const newTotpSecret = (random: Randomness): string => base32(random.bytes(SECRET_BYTES));

/** The six digits of a typed code, or undefined for other text. */
export function sixDigits(typed: string): string | undefined {
  const digits = typed.replace(/\s/g, '');
  return /^[0-9]{6}$/.test(digits) ? digits : undefined;
}

/**
 * The time step of a code: the current one, or one before or after it, for clock drift and slow typing (RFC 6238,
 * section 5.2). Undefined if the code is none of theirs.
 */
export async function stepOfCode(secret: string, digits: string, now: Date): Promise<number | undefined> {
  const { verify } = await otp();
  const result = await verify({
    secret,
    token: digits,
    epoch: Math.floor(now.getTime() / 1000),
    period: STEP_SECONDS,
    epochTolerance: STEP_SECONDS,
  });
  return result.valid && 'timeStep' in result ? result.timeStep : undefined;
}

/** The `otpauth://` URI for the QR code. */
export async function totpUri(secret: string, label: string, issuer: string): Promise<string> {
  const { generateURI } = await otp();
  return generateURI({ secret, label, issuer });
}

/** Loaded on first use: most processes never verify a code. */
const otp = () => import('otplib/functional');
