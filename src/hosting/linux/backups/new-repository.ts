import { createCipheriv, createHash, scrypt } from 'node:crypto';
import { promisify } from 'node:util';
import type { Randomness } from '../../../lib/ids.ts';
import { randomPolynomial } from './chunker-polynomial.ts';
import { poly1305 } from './poly1305.ts';

/** A file of a repository, with its relative name. */
export interface RepositoryFile {
  name: string;
  content: Buffer;
}

const FORMAT_VERSION = 2;
/**
 * `restic init` creates a key that takes half a second to open, to slow down password guessing. Our passwords are 256 random
 * bits, which cannot be guessed, and every backup, verification and restore would pay for it.
 */
const SCRYPT = { N: 1024, r: 8, p: 1 };
const SALT_BYTES = 64;
const NONCE_BYTES = 16;

/**
 * The two files of an empty repository (restic's documentation, "Repository Format"). The first is the key, which opens the master key
 * by the password. The second is the configuration, whose presence makes it a repository. `polynomial`: that of a repository whose
 * snapshots are copied into it, so that equal files share their data; random by default.
 */
export async function newRepository(
  password: string,
  {
    random,
    now,
    polynomial = randomPolynomial((count) => random.bytes(count)).toString(16),
  }: { random: Randomness; now: Date; polynomial?: string },
): Promise<{ key: RepositoryFile; config: RepositoryFile }> {
  const master = keyFrom(random.bytes(64));
  const salt = random.bytes(SALT_BYTES);
  const opener = keyFrom(await derive(password, salt));
  const key = Buffer.from(
    JSON.stringify({
      created: now.toISOString(),
      username: 'homeport',
      hostname: 'homeport',
      kdf: 'scrypt',
      ...SCRYPT,
      salt: salt.toString('base64'),
      data: seal(opener, Buffer.from(JSON.stringify(masterKeyJson(master))), random).toString('base64'),
    }),
  );
  const config = {
    version: FORMAT_VERSION,
    id: random.bytes(32).toString('hex'),
    chunker_polynomial: polynomial,
  };
  return {
    key: { name: `keys/${createHash('sha256').update(key).digest('hex')}`, content: key },
    config: { name: 'config', content: seal(master, Buffer.from(JSON.stringify(config)), random) },
  };
}

const scryptAsync = promisify<string, Buffer, number, typeof SCRYPT, Buffer>(scrypt);

async function derive(password: string, salt: Buffer): Promise<Buffer> {
  return scryptAsync(password, salt, 64, SCRYPT);
}

interface Key {
  /** AES-256. */
  encrypt: Buffer;
  /** For Poly1305-AES. */
  mac: { k: Buffer; r: Buffer };
}

function keyFrom(bytes: Buffer): Key {
  return {
    encrypt: bytes.subarray(0, 32),
    mac: { k: bytes.subarray(32, 48), r: bytes.subarray(48, 64) },
  };
}

function masterKeyJson({ encrypt, mac }: Key): object {
  return {
    mac: { k: mac.k.toString('base64'), r: mac.r.toString('base64') },
    encrypt: encrypt.toString('base64'),
  };
}

/** Nonce, ciphertext (AES-256-CTR) and authenticator (Poly1305-AES of the ciphertext). */
function seal(key: Key, plain: Buffer, random: Randomness): Buffer {
  const nonce = random.bytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-ctr', key.encrypt, nonce);
  const ciphertext = Buffer.concat([cipher.update(plain), cipher.final()]);
  const block = createCipheriv('aes-128-ecb', key.mac.k, null).setAutoPadding(false);
  const s = Buffer.concat([block.update(nonce), block.final()]);
  return Buffer.concat([nonce, ciphertext, poly1305(ciphertext, key.mac.r, s)]);
}
