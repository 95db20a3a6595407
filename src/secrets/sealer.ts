import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

/** Encrypts secrets that must be readable again, such as private keys, before they are stored. */
export interface Sealer {
  seal(plain: string): string;
  /** Throws if `sealed` was made with another key or was changed. */
  open(sealed: string): string;
  /** Derives a 256-bit secret (base64url), always the same for the same `purpose`. It reveals neither the key nor other derived secrets. */
  derive(purpose: string): string;
}

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** AES-256-GCM with a random nonce. The sealed form is `v1.` and base64url of nonce, tag and ciphertext. */
export function createSealer(key: Buffer): Sealer {
  if (key.length !== 32) throw new Error('the sealing key must be 32 bytes long');
  return {
    seal(plain) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', key, nonce);
      const body = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
      return `v1.${Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64url')}`;
    },
    open(sealed) {
      if (!sealed.startsWith('v1.')) throw new Error('not a sealed value');
      const bytes = Buffer.from(sealed.slice(3), 'base64url');
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES), {
        authTagLength: TAG_BYTES,
      });
      decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
      return Buffer.concat([
        decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)),
        decipher.final(),
      ]).toString('utf8');
    },
    // RFC 5869; the key is random already, so it needs no salt.
    derive: (purpose) => Buffer.from(hkdfSync('sha256', key, '', purpose, 32)).toString('base64url'),
  };
}
