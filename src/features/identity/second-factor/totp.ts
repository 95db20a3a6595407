import type { Randomness } from '../../../lib/ids.ts';
import { base32 } from './base32.ts';

/** RFC 4226, section 4, R6: 160 bits. */
const SECRET_BYTES = 20;
/** RFC 6238, section 4.1. */
const STEP_SECONDS = 30;

export const newTotpSecret = (random: Randomness): string => base32(random.bytes(SECRET_BYTES));

/** The six digits that somebody typed, or undefined if they typed something else. */
export function sixDigits(typed: string): string | undefined {
  const digits = typed.replace(/\s/g, '');
  return /^[0-9]{6}$/.test(digits) ? digits : undefined;
}

/**
 * The time step that a code belongs to: the present one, or, for clocks that differ and people who type slowly, the one
 * before or after it (RFC 6238, section 5.2). Undefined if it is the code of none of them.
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

/** What the QR code holds. */
export async function totpUri(secret: string, label: string, issuer: string): Promise<string> {
  const { generateURI } = await otp();
  return generateURI({ secret, label, issuer });
}

/** Loaded with the first code: most processes never see one. */
const otp = () => import('otplib/functional');
