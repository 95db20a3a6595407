import type { KeyObject, X509Certificate } from 'node:crypto';
import { signatureAlgorithmOf } from '../../../../network/probe/signature-algorithm.ts';

/** Keys that browsers accept for a server, and that do not make handshakes slow for the other websites of the edge. */
export const SERVER_KEYS = 'RSA with 2048 to 4096 bits, or ECDSA with P-256 or P-384';

interface Accepted {
  rsaBits: [from: number, to: number];
  curves: readonly string[];
}

const SERVER: Accepted = { rsaBits: [2048, 4096], curves: ['prime256v1', 'secp384r1'] };
const AUTHORITY: Accepted = { rsaBits: [2048, 8192], curves: ['prime256v1', 'secp384r1', 'secp521r1'] };

/** Go's numbers of the algorithms with MD2, MD5 and SHA-1, of DSA, and of those that Go does not know. */
const WEAK_SIGNATURES = [0, 1, 2, 3, 7, 8, 9];

/** Why a key cannot be used by a server, to follow "The key is"; null if it can. */
export function faultOfServerKey(key: KeyObject): string | null {
  return faultOfKey(key, SERVER);
}

/** The same for the key of an authority, which only clients use. */
export function faultOfAuthorityKey(key: KeyObject): string | null {
  return faultOfKey(key, AUTHORITY);
}

/** Whether browsers refuse the algorithm with which the certificate is signed. */
export function hasWeakSignature(certificate: X509Certificate): boolean {
  return WEAK_SIGNATURES.includes(signatureAlgorithmOf(certificate));
}

function faultOfKey(
  { asymmetricKeyType: type, asymmetricKeyDetails: details }: KeyObject,
  { rsaBits: [from, to], curves }: Accepted,
): string | null {
  if (type === 'rsa') {
    const bits = details?.modulusLength ?? 0;
    if (bits < from) return `an RSA key of ${bits} bits, which is too weak`;
    return bits > to ? `an RSA key of ${bits} bits, which is too slow` : null;
  }
  if (type !== 'ec') return `a key of the kind ${type ?? 'unknown'}, which browsers do not accept`;
  const curve = details?.namedCurve ?? 'of its own';
  return curves.includes(curve) ? null : `an ECDSA key on the curve ${curve}, which browsers do not accept`;
}
