import { hash, timingSafeEqual } from 'node:crypto';
import type { Randomness } from '../lib/ids.ts';

/** 192 bits, which no dictionary contains, so a fast hash is enough for storage. */
const SECRET_BYTES = 24;

/** Generates a secret (API password, link or session token) as base64url, which never needs quoting. */
export function newSecret(random: Randomness, bytes = SECRET_BYTES): string {
  return random.bytes(bytes).toString('base64url');
}

/** The stored form of a random secret: SHA-256, hex. */
export function hashSecret(secret: string): string {
  return hash('sha256', secret, 'hex');
}

/** Whether a secret has the stored form `expected`, its SHA-256 as bytes. In constant time. */
export function isSecret(secret: string, expected: Buffer): boolean {
  return timingSafeEqual(hash('sha256', secret, 'buffer'), expected);
}
