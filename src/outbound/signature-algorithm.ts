import type { X509Certificate } from 'node:crypto';

/** The numbers of Go's crypto/x509 SignatureAlgorithm (gaps section 5), by object identifier. */
const GO_NUMBERS: Record<string, number> = {
  '1.2.840.113549.1.1.2': 1, // MD2-RSA
  '1.2.840.113549.1.1.4': 2, // MD5-RSA
  '1.2.840.113549.1.1.5': 3, // SHA1-RSA
  '1.3.14.3.2.29': 3, // SHA1-RSA, by its ISO identifier
  '1.2.840.113549.1.1.11': 4, // SHA256-RSA
  '1.2.840.113549.1.1.12': 5, // SHA384-RSA
  '1.2.840.113549.1.1.13': 6, // SHA512-RSA
  '1.2.840.10040.4.3': 7, // DSA-SHA1
  '2.16.840.1.101.3.4.3.2': 8, // DSA-SHA256
  '1.2.840.10045.4.1': 9, // ECDSA-SHA1
  '1.2.840.10045.4.3.2': 10, // ECDSA-SHA256
  '1.2.840.10045.4.3.3': 11, // ECDSA-SHA384
  '1.2.840.10045.4.3.4': 12, // ECDSA-SHA512
  '1.3.101.112': 16, // Ed25519
};

/** RSASSA-PSS, whose hash is among its parameters (RFC 4055 section 3.1). */
const RSA_PSS = '1.2.840.113549.1.1.10';
/** DER of the hashes' identifiers without the last byte, which is 1 for SHA-256, 2 for SHA-384, 3 for SHA-512. */
const SHA_2 = Buffer.from('0609608648016503040200', 'hex').subarray(0, -1);
const GO_PSS_NUMBERS: Record<number, number> = { 1: 13, 2: 14, 3: 15 };

/** The number that Go's crypto/x509 gives the algorithm that a certificate is signed with; 0 for one that it does not know. */
export function goSignatureAlgorithm(certificate: X509Certificate): number {
  const oid = certificate.signatureAlgorithmOid ?? '';
  return oid === RSA_PSS ? pssNumber(certificate.raw) : (GO_NUMBERS[oid] ?? 0);
}

function pssNumber(certificate: Buffer): number {
  // Certificate ::= SEQUENCE { tbsCertificate, signatureAlgorithm, signature }, RFC 5280 section 4.1.
  const tbs = element(certificate, element(certificate, 0).content);
  const algorithm = element(certificate, tbs.end);
  const parameters = certificate.subarray(algorithm.content, algorithm.end);
  // The hash comes before that of the mask generation.
  const at = parameters.indexOf(SHA_2);
  return at === -1 ? 0 : (GO_PSS_NUMBERS[parameters[at + SHA_2.length] ?? 0] ?? 0);
}

/** Where the content of the DER element at an offset begins, and where it ends. */
function element(der: Buffer, offset: number): { content: number; end: number } {
  const length = der.readUInt8(offset + 1);
  if (length < 0x80) return { content: offset + 2, end: offset + 2 + length };
  const bytes = length & 0x7f;
  const content = offset + 2 + bytes;
  return { content, end: content + der.readUIntBE(offset + 2, bytes) };
}
