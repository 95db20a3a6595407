import { isIP } from 'node:net';
import { DAY_MS } from '../durations.ts';
import { MAX_HOST_NAME, SERVED_NAME } from '../host-names.ts';

/** A self-signed server certificate with its private key. */
export interface SelfSigned {
  /** PEM; one certificate, as there is no issuer above it. */
  chain: string;
  /** PEM, PKCS#8, unencrypted. */
  key: string;
  /** Whole seconds, as X.509 has no finer ones. */
  notBefore: Date;
  /** The last second in which it is valid. */
  notAfter: Date;
}

export interface SelfSignedRequest {
  /**
   * Subjects of the certificate, at least one: host names in ASCII, `*.` and a host name, or IP addresses. Each becomes
   * a subject alternative name of its kind; the first is the common name too.
   */
  names: string[];
  notBefore: Date;
  /** Whole days of validity, at least 1. */
  days: number;
}

const P256 = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
/** ub-common-name, RFC 5280 appendix A.1. */
const MAX_COMMON_NAME = 64;
/** id-kp-serverAuth, RFC 5280 section 4.2.1.12. */
const SERVER_AUTH = '1.3.6.1.5.5.7.3.1';
const CERTIFIED_NAME = new RegExp(`^(?=.{1,${MAX_HOST_NAME}}$)(?:\\*\\.)?${SERVED_NAME}$`, 'i');

function alternativeName(name: string): { type: 'dns' | 'ip'; value: string } {
  return { type: isIP(name) === 0 ? 'dns' : 'ip', value: name };
}

/**
 * Makes an ECDSA P-256 key and a certificate for it that is signed with the same key. It is an end-entity
 * certificate (CA:FALSE): who trusts it trusts these names and nothing else.
 *
 * Throws a RangeError for no names, a name that is neither a host name nor an IP address, or a validity under a day.
 */
export async function createSelfSigned({ names, notBefore, days }: SelfSignedRequest): Promise<SelfSigned> {
  const [first] = names;
  if (first === undefined) throw new RangeError('a certificate needs at least one name');
  for (const name of names) {
    if (isIP(name) === 0 && !CERTIFIED_NAME.test(name)) {
      throw new RangeError(`"${name}" is neither a host name nor an IP address`);
    }
  }
  if (!Number.isInteger(days) || days < 1)
    throw new RangeError('a certificate is valid for at least one day');

  // Loading the library costs about 100 ms and 20 MB, and a certificate is made once in months.
  await import('reflect-metadata');
  const x509 = await import('@peculiar/x509');

  const from = new Date(Math.floor(notBefore.getTime() / 1000) * 1000);
  const until = new Date(from.getTime() + days * DAY_MS);
  const keys = await crypto.subtle.generateKey(P256, true, ['sign', 'verify']);
  const commonName = first.length <= MAX_COMMON_NAME ? first : undefined;
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: commonName === undefined ? [] : [{ CN: [commonName] }],
    notBefore: from,
    notAfter: until,
    signingAlgorithm: P256,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([SERVER_AUTH]),
      new x509.SubjectAlternativeNameExtension(
        [...new Set(names)].map(alternativeName),
        // RFC 5280 section 4.2.1.6: critical where the subject is empty.
        commonName === undefined,
      ),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
      // Without it, a client that trusts several certificates of this name takes one for the issuer of another, and refuses that.
      await x509.AuthorityKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  const pkcs8 = await crypto.subtle.exportKey('pkcs8', keys.privateKey);
  return {
    chain: `${certificate.toString('pem').trimEnd()}\n`,
    key: `${x509.PemConverter.encode(pkcs8, 'PRIVATE KEY').trimEnd()}\n`,
    notBefore: from,
    notAfter: until,
  };
}
