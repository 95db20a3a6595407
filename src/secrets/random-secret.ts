import { hash } from 'node:crypto';
import type { Randomness } from '../lib/ids.ts';

/** 192 bits: no list of passwords holds it, so a fast hash is enough to store. */
const SECRET_BYTES = 24;

/** A new random secret (API password, token of a link or session), in characters that need no quoting anywhere. */
export function newSecret(random: Randomness, bytes = SECRET_BYTES): string {
  return random.bytes(bytes).toString('base64url');
}

/** How a random secret is stored: SHA-256, hex. */
export function hashSecret(secret: string): string {
  return hash('sha256', secret, 'hex');
}
