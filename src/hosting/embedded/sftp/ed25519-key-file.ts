import { createPrivateKey, createPublicKey, randomBytes } from 'node:crypto';

const TYPE = Buffer.from('ssh-ed25519');
const SEED_BYTES = 32;
/** Wraps a seed as PKCS #8 (RFC 8410 section 7). */
const PKCS8_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex');
const BEGIN = '-----BEGIN OPENSSH PRIVATE KEY-----';
const END = '-----END OPENSSH PRIVATE KEY-----';
/** Cipher blocks of an unencrypted key. */
const BLOCK_BYTES = 8;
/** Positions in the file of an unencrypted Ed25519 key, whose first fields all have fixed lengths. */
const CHECK_AT = 98;
const SEED_AT = 161;
const COMMENT_AT = 229;

interface Ed25519Key {
  seed: Buffer;
  /** Random number that the file has twice. */
  check: Buffer;
  comment: Buffer;
}

/** Makes an Ed25519 key. Returns the file in OpenSSH's format. */
export function newEd25519KeyFile(): string {
  const key = { seed: randomBytes(SEED_BYTES), check: randomBytes(4), comment: Buffer.alloc(0) };
  const lines =
    encoded(key)
      .toString('base64')
      .match(/.{1,70}/g) ?? [];
  return `${[BEGIN, ...lines, END].join('\n')}\n`;
}

/** Reads the public half, `type base64`, of an unencrypted Ed25519 key in OpenSSH's format. Null for other and damaged keys. */
export function publicHalfOfEd25519(text: string): string | null {
  const trimmed = text.trim();
  if (!trimmed.startsWith(BEGIN) || !trimmed.endsWith(END)) return null;
  const bytes = Buffer.from(trimmed.slice(BEGIN.length, -END.length), 'base64');
  if (bytes.length < COMMENT_AT) return null;
  const key = {
    seed: bytes.subarray(SEED_AT, SEED_AT + SEED_BYTES),
    check: bytes.subarray(CHECK_AT, CHECK_AT + 4),
    comment: bytes.subarray(COMMENT_AT, COMMENT_AT + bytes.readUInt32BE(COMMENT_AT - 4)),
  };
  // Covers every field, including the public key, which must belong to the seed.
  return encoded(key).equals(bytes) ? `${TYPE} ${publicBlob(key.seed).toString('base64')}` : null;
}

/** The file's content before base64 (openssh-portable, PROTOCOL.key). */
function encoded({ seed, check, comment }: Ed25519Key): Buffer {
  const publicKey = publicKeyOf(seed);
  const section = Buffer.concat([
    check,
    check,
    field(TYPE),
    field(publicKey),
    field(seed, publicKey),
    field(comment),
  ]);
  const missing = -section.length & (BLOCK_BYTES - 1);
  const padding = Buffer.from(Array.from({ length: missing }, (_, index) => index + 1));
  const [none, noOptions, oneKey] = [field(Buffer.from('none')), field(), uint32(1)];
  const head = [Buffer.from('openssh-key-v1\0'), none, none, noOptions, oneKey];
  return Buffer.concat([...head, field(publicBlob(seed)), field(section, padding)]);
}

function publicBlob(seed: Buffer): Buffer {
  return Buffer.concat([field(TYPE), field(publicKeyOf(seed))]);
}

function publicKeyOf(seed: Buffer): Buffer {
  const key = createPrivateKey({ key: Buffer.concat([PKCS8_HEAD, seed]), format: 'der', type: 'pkcs8' });
  return Buffer.from(createPublicKey(key).export({ format: 'jwk' }).x ?? '', 'base64url');
}

/** A string of RFC 4251 section 5: its length, then its bytes. */
function field(...parts: Buffer[]): Buffer {
  const bytes = Buffer.concat(parts);
  return Buffer.concat([uint32(bytes.length), bytes]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
