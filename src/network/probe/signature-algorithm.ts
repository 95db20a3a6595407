import type { X509Certificate } from 'node:crypto';

/** Numbers of Go's crypto/x509.SignatureAlgorithm by object identifier. Reports use them (docs/api.md, Status reports). */
const NUMBERS: Record<string, number> = {
  '1.2.840.113549.1.1.2': 1, // MD2 with RSA
  '1.2.840.113549.1.1.4': 2, // MD5 with RSA
  '1.2.840.113549.1.1.5': 3, // SHA-1 with RSA
  '1.3.14.3.2.29': 3, // SHA-1 with RSA, ISO's number
  '1.2.840.113549.1.1.11': 4, // SHA-256 with RSA
  '1.2.840.113549.1.1.12': 5, // SHA-384 with RSA
  '1.2.840.113549.1.1.13': 6, // SHA-512 with RSA
  '1.2.840.10040.4.3': 7, // DSA with SHA-1
  '2.16.840.1.101.3.4.3.2': 8, // DSA with SHA-256
  '1.2.840.10045.4.1': 9, // ECDSA with SHA-1
  '1.2.840.10045.4.3.2': 10, // ECDSA with SHA-256
  '1.2.840.10045.4.3.3': 11, // ECDSA with SHA-384
  '1.2.840.10045.4.3.4': 12, // ECDSA with SHA-512
  '1.3.101.112': 16, // Ed25519
};

const RSA_PSS = '1.2.840.113549.1.1.10';

/**
 * RSASSA-PSS in DER, as hexadecimal. Its parameters (RFC 4055 section 3.1) name a hash, the same hash for the mask, and
 * the salt length. The last octet of a hash's identifier is its number in NIST's list.
 */
const PSS_PARAMETERS =
  /06092a864886f70d01010a30..a0..30..06096086480165030402(0[123])(?:0500)?a1..30..06092a864886f70d01010830..06096086480165030402\1(?:0500)?a2030201(..)/;

/** Go knows PSS only if the salt is as long as the hash. */
const PSS_NUMBERS: Record<string, number> = {
  '01 20': 13, // SHA-256
  '02 30': 14, // SHA-384
  '03 40': 15, // SHA-512
};

/** Go's number of a certificate's signature algorithm; 0 for one that Go does not know. */
export function signatureAlgorithmOf(certificate: X509Certificate): number {
  const oid = certificate.signatureAlgorithmOid ?? '';
  if (oid !== RSA_PSS) return NUMBERS[oid] ?? 0;
  const [, hash = '', salt = ''] = PSS_PARAMETERS.exec(certificate.raw.toString('hex')) ?? [];
  return PSS_NUMBERS[`${hash} ${salt}`] ?? 0;
}
