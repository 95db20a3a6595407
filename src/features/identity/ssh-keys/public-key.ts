import { createHash, createPublicKey, type JsonWebKey } from 'node:crypto';
import { hasControlCharacter } from '../../../lib/one-line.ts';
import { KEY_START, keyLineOf } from './pasted-key.ts';

/** A public key that Homeport accepts (docs/api.md, SSH keys). */
export interface PublicKey {
  type: KeyType;
  /** Size of the key as `ssh-keygen -l` shows it: 256 for ed25519, the field size for ecdsa, the modulus for rsa. */
  bits: number;
  /** The trimmed text after the key; may be empty. */
  comment: string;
  /** The key in canonical form, `type base64`, without the comment. Equal keys have equal lines. */
  line: string;
  /** 16 colon-separated pairs of lower-case hex digits, without `MD5:`. */
  fingerprintMd5: string;
  /** Base64 without padding, as OpenSSH prints it after `SHA256:`. */
  fingerprintSha256: string;
}

const CURVES = {
  'ecdsa-sha2-nistp256': { ssh: 'nistp256', jwk: 'P-256', bits: 256 },
  'ecdsa-sha2-nistp384': { ssh: 'nistp384', jwk: 'P-384', bits: 384 },
  'ecdsa-sha2-nistp521': { ssh: 'nistp521', jwk: 'P-521', bits: 521 },
} as const;

type EcdsaType = keyof typeof CURVES;
/** Keys on a hardware token (FIDO/U2F), which OpenSSH knows since 8.2. */
type SecurityKeyType = 'sk-ssh-ed25519@openssh.com' | 'sk-ecdsa-sha2-nistp256@openssh.com';
export type KeyType = 'ssh-ed25519' | 'ssh-rsa' | EcdsaType | SecurityKeyType;

/** Reasons for refusing a key, with the message for its owner. */
export const PUBLIC_KEY_FAULTS = {
  empty: 'The key is empty. Paste the line from your .pub file.',
  too_long: 'The text is too long for a public key. Paste the line from your .pub file.',
  private_key: 'This is a private key. Keep it secret, and paste the matching .pub file instead.',
  several_lines: 'A public key is a single line. Paste the line from your .pub file.',
  several_keys: 'The text contains several keys. Add one key at a time.',
  control_character: 'The text contains control characters. Copy the line from your .pub file again.',
  options: 'The line must begin with the key type. Remove the options before the key.',
  certificate: 'This is a certificate. Paste its public key instead.',
  security_key:
    'Security keys (sk-) need a Linux host, whose OpenSSH checks them. Use an ed25519, ecdsa or rsa key here.',
  unsupported_type: 'This key type is not supported. Use an ed25519, ecdsa or rsa key.',
  malformed: 'The key is damaged or of another type than it names. Copy the whole line again.',
  too_short: 'The rsa key is too short. Use at least 2048 bits, or better an ed25519 key.',
  too_large: 'The rsa key is too large. Use at most 16384 bits, or better an ed25519 key.',
  comment_too_long: 'The comment after the key is too long (maximum is 1024 bytes).',
} as const;

export type PublicKeyFault = keyof typeof PUBLIC_KEY_FAULTS;

export type PublicKeyResult = { ok: true; key: PublicKey } | { ok: false; reason: PublicKeyFault };

const MAX_LINE_BYTES = 16 * 1024;
const MAX_COMMENT_BYTES = 1024;
const MIN_RSA_BITS = 2048;
/** OpenSSL's limits: it refuses larger moduli, and longer exponents with a modulus over 3072 bits. */
const MAX_RSA_BITS = 16384;
const MAX_RSA_EXPONENT_BYTES = 8;

const PRIVATE_KEY = /PRIVATE KEY|^PuTTY-User-Key-File/;

/**
 * Parses an OpenSSH public key file, or one in the form of RFC 4716, and checks that the key is usable. Ignores surrounding white space,
 * lines of comment, and breaks within a key that was wrapped. Never throws.
 *
 * @param options.securityKeys whether keys on hardware tokens are accepted, which OpenSSH alone can check
 */
export function parsePublicKey(
  text: string,
  { securityKeys = false }: { securityKeys?: boolean } = {},
): PublicKeyResult {
  if (Buffer.byteLength(text) > MAX_LINE_BYTES) return refuse('too_long');
  if (PRIVATE_KEY.test(text.trim())) return refuse('private_key');
  const trimmed = keyLineOf(text);
  if (trimmed === '') return refuse('empty');
  if (KEY_START.test(trimmed.replace(KEY_START, ''))) return refuse('several_keys');
  if (/[\r\n]/.test(trimmed)) return refuse('several_lines');

  const [, type = '', encoded = '', rest = ''] = /^([^ \t]*)[ \t]*([^ \t]*)[ \t]*(.*)$/su.exec(trimmed) ?? [];
  const comment = rest.trim();
  if ([type, encoded, comment].some((part) => hasControlCharacter(part) || !part.isWellFormed())) {
    return refuse('control_character');
  }
  if (!isKeyType(type)) return refuse(faultOfType(type, trimmed));
  if (isSecurityKeyType(type) && !securityKeys) return refuse('security_key');
  if (Buffer.byteLength(comment) > MAX_COMMENT_BYTES) return refuse('comment_too_long');

  const blob = Buffer.from(encoded, 'base64');
  // Node decodes leniently; only the canonical encoding decodes and encodes to itself.
  if (encoded === '' || blob.toString('base64') !== encoded) return refuse('malformed');
  const bits = checkBlob(type, blob);
  if (typeof bits === 'string') return refuse(bits);

  return {
    ok: true,
    key: {
      type,
      bits,
      comment,
      line: `${type} ${encoded}`,
      fingerprintMd5: fingerprintMd5(blob),
      fingerprintSha256: fingerprintSha256(blob),
    },
  };
}

/** OpenSSH's fingerprint of a key blob: SHA-256 in base64 without padding. */
export function fingerprintSha256(blob: Buffer): string {
  return createHash('sha256').update(blob).digest('base64').replace(/=+$/, '');
}

function fingerprintMd5(blob: Buffer): string {
  return (createHash('md5').update(blob).digest('hex').match(/../g) ?? []).join(':');
}

function refuse(reason: PublicKeyFault): PublicKeyResult {
  return { ok: false, reason };
}

function isKeyType(type: string): type is KeyType {
  return type === 'ssh-ed25519' || type === 'ssh-rsa' || isEcdsaType(type) || isSecurityKeyType(type);
}

function isSecurityKeyType(type: string): type is SecurityKeyType {
  return type === 'sk-ssh-ed25519@openssh.com' || type === 'sk-ecdsa-sha2-nistp256@openssh.com';
}

function isEcdsaType(type: string): type is EcdsaType {
  return Object.hasOwn(CURVES, type);
}

/** The reason for refusing a line whose first word is not an accepted key type. */
function faultOfType(word: string, line: string): PublicKeyFault {
  if (/-cert-v0\d@openssh\.com$/.test(word)) return 'certificate';
  if (/(?:^|\s)(?:ssh-|ecdsa-sha2-|sk-)\S+\s+AAAA/.test(line) && !/^(?:ssh-|ecdsa-sha2-)/.test(word)) {
    return 'options';
  }
  return /^(?:ssh-|ecdsa-)\S+\s+AAAA/.test(line) ? 'unsupported_type' : 'malformed';
}

/** Checks a wire blob (RFC 4253 section 6.6, RFC 5656 section 3.1, RFC 8709 section 4) and returns its size in bits. */
function checkBlob(type: KeyType, blob: Buffer): number | PublicKeyFault {
  const fields = splitFields(blob);
  if (fields === null || fields[0]?.toString('latin1') !== type) return 'malformed';
  const values = fields.slice(1);
  if (isSecurityKeyType(type)) return checkSecurityKey(type, values);
  if (type === 'ssh-ed25519') return checkEd25519(values);
  if (type === 'ssh-rsa') return checkRsa(values);
  return checkEcdsa(type, values);
}

/** The strings of an SSH structure (RFC 4251 section 5), or null if they do not fill it exactly. */
function splitFields(blob: Buffer): Buffer[] | null {
  const fields: Buffer[] = [];
  let at = 0;
  while (at < blob.length) {
    if (at + 4 > blob.length) return null;
    const end = at + 4 + blob.readUInt32BE(at);
    if (end > blob.length) return null;
    fields.push(blob.subarray(at + 4, end));
    at = end;
  }
  return fields;
}

/** The last field is the application that the token signs for (OpenSSH PROTOCOL.u2f): `ssh:` and more. */
function checkSecurityKey(type: SecurityKeyType, values: Buffer[]): number | PublicKeyFault {
  const application = values.at(-1)?.toString('latin1') ?? '';
  if (!/^ssh:[\x21-\x7e]{0,200}$/.test(application)) return 'malformed';
  const key = values.slice(0, -1);
  return type === 'sk-ssh-ed25519@openssh.com' ? checkEd25519(key) : checkEcdsa('ecdsa-sha2-nistp256', key);
}

function checkEcdsa(type: EcdsaType, [curveName, point, ...further]: Buffer[]): number | PublicKeyFault {
  const curve = CURVES[type];
  const size = Math.ceil(curve.bits / 8);
  if (curveName === undefined || point === undefined || further.length > 0) return 'malformed';
  if (curveName.toString('latin1') !== curve.ssh) return 'malformed';
  // 4: an uncompressed point (SEC 1 section 2.3.3), the only form that OpenSSH writes and reads.
  if (point.length !== 1 + 2 * size || point[0] !== 4) return 'malformed';
  const key = {
    kty: 'EC',
    crv: curve.jwk,
    x: point.subarray(1, 1 + size).toString('base64url'),
    y: point.subarray(1 + size).toString('base64url'),
  };
  return importable(key) ? curve.bits : 'malformed';
}

function checkRsa([exponent, modulus, ...further]: Buffer[]): number | PublicKeyFault {
  if (exponent === undefined || modulus === undefined || further.length > 0) return 'malformed';
  if (!isPositiveInteger(exponent) || !isPositiveInteger(modulus)) return 'malformed';
  if (exponent.length > MAX_RSA_EXPONENT_BYTES) return 'malformed';
  const e = BigInt(`0x${exponent.toString('hex')}`);
  if (e <= 1n || e % 2n === 0n || (modulus.at(-1) ?? 0) % 2 === 0) return 'malformed';
  const bits = bitLength(modulus);
  if (bits < MIN_RSA_BITS) return 'too_short';
  if (bits > MAX_RSA_BITS) return 'too_large';
  const key = { kty: 'RSA', n: unsigned(modulus), e: unsigned(exponent) };
  return importable(key) ? bits : 'malformed';
}

/** An mpint (RFC 4251 section 5) greater than zero, without superfluous leading zeros. */
function isPositiveInteger(mpint: Buffer): boolean {
  const [first, second = 0] = mpint;
  if (first === undefined || first >= 0x80) return false;
  return first !== 0 || second >= 0x80;
}

function bitLength(mpint: Buffer): number {
  const [first = 0, second = 0] = mpint;
  return first === 0
    ? (mpint.length - 1) * 8 - Math.clz32(second) + 24
    : mpint.length * 8 - Math.clz32(first) + 24;
}

function unsigned(mpint: Buffer): string {
  return (mpint[0] === 0 ? mpint.subarray(1) : mpint).toString('base64url');
}

/** Whether OpenSSL takes the key; for elliptic curves this proves that the point is on the curve. */
function importable(key: JsonWebKey): boolean {
  try {
    createPublicKey({ key, format: 'jwk' });
    return true;
  } catch {
    return false;
  }
}

const P = 2n ** 255n - 19n;
/** The curve's d = -121665/121666 (RFC 8032 section 5.1). */
const D = modulo(-121665n * power(121666n, P - 2n));

/**
 * OpenSSL imports any 32 bytes as an ed25519 key, so this checks the point: it must decode (RFC 8032 section
 * 5.1.3). It must not be one of the eight points of small order, which allow anyone to forge signatures.
 */
function checkEd25519([point, ...further]: Buffer[]): number | PublicKeyFault {
  if (point === undefined || further.length > 0 || point.length !== 32) return 'malformed';
  const littleEndian = BigInt(`0x${Buffer.from(point).reverse().toString('hex')}`);
  const y = littleEndian % 2n ** 255n;
  if (y >= P) return 'malformed';
  const yy = modulo(y * y);
  // x² = (y² - 1) / (d y² + 1); the quotient has a root only if the product of the two is a square or zero.
  const product = modulo((yy - 1n) * (D * yy + 1n));
  const isOnCurve = product === 0n || power(product, (P - 1n) / 2n) === 1n;
  // Orders 1 and 2 have y = ±1, order 4 has y = 0, and doubling a point of order 8 gives y = 0: d y⁴ + 2y² = 1.
  const hasSmallOrder = yy === 1n || y === 0n || modulo(D * yy * yy + 2n * yy - 1n) === 0n;
  return isOnCurve && !hasSmallOrder ? 256 : 'malformed';
}

function modulo(value: bigint): bigint {
  return ((value % P) + P) % P;
}

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  let square = modulo(base);
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = (result * square) % P;
    square = (square * square) % P;
  }
  return result;
}
