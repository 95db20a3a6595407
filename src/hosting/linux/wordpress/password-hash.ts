import { hash } from 'node:crypto';

const ALPHABET = './0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** 2^7 rounds, the fewest that there are: what is hashed here is random, so nobody finds it by trying. */
const LOG_ROUNDS = 7;
const SALT_BYTES = 6;

/**
 * Pure: a random password as phpass's portable hash, which every WordPress can check; a newer one replaces it by its own kind at the first
 * log-in. `salt`: 6 random bytes.
 */
export function wordpressPasswordHash(password: string, salt: Buffer): string {
  if (salt.length !== SALT_BYTES) throw new RangeError(`the salt has ${salt.length} bytes instead of 6`);
  const text = encode(salt);
  const secret = Buffer.from(password);
  let digest = hash('md5', Buffer.concat([Buffer.from(text), secret]), 'buffer');
  for (let round = 0; round < 2 ** LOG_ROUNDS; round++) {
    digest = hash('md5', Buffer.concat([digest, secret]), 'buffer');
  }
  return `$P$${ALPHABET[LOG_ROUNDS]}${text}${encode(digest)}`;
}

/** Three bytes as four characters, the lowest bits first; what is left over as two or three. */
function encode(bytes: Buffer): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += 3) {
    const part = bytes.subarray(at, at + 3);
    let value = part.reduce((sum, byte, index) => sum | (byte << (8 * index)), 0);
    for (let digits = 0; digits <= part.length; digits++) {
      text += ALPHABET[value & 63];
      value >>= 6;
    }
  }
  return text;
}
