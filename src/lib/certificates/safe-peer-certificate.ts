/**
 * Replaces TLSSocket.getPeerCertificate of Node 24.21, which crashes if a certificate of the server's chain has its key on a curve without a NIST
 * name. Node calls it in every handshake of a client whose chain it accepts, and any server with a valid certificate can add another one that
 * crashes it. Imported by every program and thread that connects to servers.
 */
import type { X509Certificate } from 'node:crypto';
import { TLSSocket } from 'node:tls';
import { type DistinguishedName, parseDistinguishedName } from './distinguished-name.ts';

/** The parts of a certificate that Node's check of host names and its callers read. */
function described(certificate: X509Certificate) {
  return {
    subject: attributes(parseDistinguishedName(certificate.subject)),
    issuer: attributes(parseDistinguishedName(certificate.issuer)),
    subjectaltname: certificate.subjectAltName,
    valid_from: certificate.validFrom,
    valid_to: certificate.validTo,
    fingerprint: certificate.fingerprint,
    fingerprint256: certificate.fingerprint256,
    serialNumber: certificate.serialNumber,
    raw: certificate.raw,
  };
}

/** Node gives a list only if an attribute has several values. */
function attributes(name: DistinguishedName): Record<string, string | readonly string[]> {
  return Object.fromEntries(
    [...name].map(([key, values]) => [key, values.length === 1 ? (values[0] ?? '') : values]),
  );
}

const takeCertificate = TLSSocket.prototype.getPeerX509Certificate;
/** Node takes the certificate out of the connection, so that only the first call returns it. */
const taken = new WeakMap<TLSSocket, X509Certificate>();

TLSSocket.prototype.getPeerX509Certificate = function getPeerX509Certificate() {
  const certificate = taken.get(this) ?? takeCertificate.call(this);
  if (certificate !== undefined) taken.set(this, certificate);
  return certificate;
};

// Its types promise more than its callers read.
Object.defineProperty(TLSSocket.prototype, 'getPeerCertificate', {
  configurable: true,
  writable: true,
  value(this: TLSSocket) {
    const certificate = this.getPeerX509Certificate();
    return certificate ? described(certificate) : {};
  },
});
