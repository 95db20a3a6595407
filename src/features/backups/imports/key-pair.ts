import { generateKeyPairSync } from 'node:crypto';

const TYPE = 'ecdsa-sha2-nistp256';
const CURVE = 'nistp256';

/** A key pair in the formats of OpenSSH. */
export interface KeyPair {
  /** A line for authorized_keys. */
  publicKey: string;
  privateKey: string;
}

/** Makes a key pair. Node writes ECDSA keys in a format that every OpenSSH reads, but no Ed25519 keys. */
export function makeKeyPair(comment: string): KeyPair {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
  const point = Buffer.concat([Buffer.from([4]), Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')]);
  const wire = Buffer.concat([field(TYPE), field(CURVE), field(point)]);
  return {
    publicKey: `${TYPE} ${wire.toString('base64')} ${comment}`,
    privateKey: privateKey.export({ type: 'sec1', format: 'pem' }).toString(),
  };
}

/** A string of RFC 4251. */
function field(value: string | Buffer): Buffer {
  const bytes = Buffer.from(value);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}
