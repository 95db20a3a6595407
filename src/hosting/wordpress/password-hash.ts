import { hash } from 'node:crypto';

const ALPHABET = './0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** 2^7 rounds, the minimum: the passwords are random, so they cannot be guessed anyway. */
const LOG_ROUNDS = 7;
const SALT_BYTES = 6;

/**
 * Hashes a random password in phpass's portable format, which every WordPress can check; newer versions replace it by their own
 * at the first login. `salt`: 6 random bytes.
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

/** Encodes three bytes as four characters, lowest bits first; the remaining bytes as two or three characters. */
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
