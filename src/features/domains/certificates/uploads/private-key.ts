import { createPrivateKey, type KeyObject, sign, verify, type X509Certificate } from 'node:crypto';
import { uploadFault } from './certificate-fault.ts';
import { faultOfServerKey, SERVER_KEYS } from './key-strength.ts';
import { pemBlocks } from './pem-blocks.ts';

/** PKCS#8, PKCS#1 (RFC 8017) and SEC1 (RFC 5915). */
const KEY_LABELS = ['PRIVATE KEY', 'RSA PRIVATE KEY', 'EC PRIVATE KEY'];
/** `openssl ecparam -genkey` writes it before the key, which names the curve too. */
const PARAMETERS = 'EC PARAMETERS';

const FORMAT = 'Send it in PEM, as "-----BEGIN PRIVATE KEY-----" (PKCS#8), PKCS#1 or SEC1';

const refuse = (code: string, message: string) => uploadFault('private_key', code, message);

/** Reads a private key. Errors never quote the text. Throws InvalidRequest. */
export function readPrivateKey(text: string): KeyObject {
  const blocks = pemBlocks(text).filter(({ label }) => label !== PARAMETERS);
  const [block] = blocks;
  if (block === undefined) throw refuse('invalid_pem', `The text holds no private key. ${FORMAT}.`);
  if (blocks.some(({ isEncrypted }) => isEncrypted)) {
    throw refuse(
      'encrypted',
      'The private key is encrypted with a passphrase. Decrypt it first, for example with "openssl pkey -in encrypted.pem -out key.pem".',
    );
  }
  const other = blocks.find(({ label }) => !KEY_LABELS.includes(label));
  if (other)
    throw refuse('invalid_pem', `This field holds "${other.label}", which is no private key. ${FORMAT}.`);
  if (blocks.length > 1) {
    throw refuse(
      'too_many',
      `This field holds ${blocks.length} private keys. Send the one of the certificate.`,
    );
  }
  let key: KeyObject;
  try {
    key = createPrivateKey(block.text);
  } catch {
    throw refuse('invalid_pem', `The private key cannot be read. ${FORMAT}.`);
  }
  const fault = faultOfServerKey(key);
  if (fault === null) return key;
  throw refuse('weak_key', `The private key is ${fault}. Get a certificate for another key: ${SERVER_KEYS}.`);
}

/** Throws InvalidRequest unless the key is that of the certificate, and signs. Its length must have been checked. */
export function requireMatch(key: KeyObject, leaf: X509Certificate): void {
  if (!leaf.checkPrivateKey(key)) {
    throw refuse(
      'key_mismatch',
      'The private key does not belong to the certificate. Send the key with which the certificate was requested.',
    );
  }
  // The comparison above reads the public parts only.
  if (!signs(key, leaf)) {
    throw refuse('invalid_key', 'The private key is damaged: its signatures are wrong. Copy the key again.');
  }
}

function signs(key: KeyObject, { publicKey }: X509Certificate): boolean {
  const probe = Buffer.from('homeport');
  try {
    return verify('sha256', probe, publicKey, sign('sha256', probe, key));
  } catch {
    return false;
  }
}
