import type { X509Certificate } from 'node:crypto';

/** Signed by its own key, even if that key may not sign certificates (RFC 5280 section 4.2.1.3). */
export function isSelfSigned(certificate: X509Certificate): boolean {
  return certificate.subject === certificate.issuer && isSignedBy(certificate, certificate);
}

/** Whether `issuer` has issued the certificate: its name, its right to sign certificates and the signature agree. */
export function hasSigned(issuer: X509Certificate, certificate: X509Certificate): boolean {
  return certificate.checkIssued(issuer) && isSignedBy(issuer, certificate);
}

/** The roots that are in the path, or have signed one of its certificates. */
export function rootsAbove(
  path: readonly X509Certificate[],
  roots: readonly X509Certificate[],
): X509Certificate[] {
  return roots.filter((root) =>
    path.some((one) => root.fingerprint256 === one.fingerprint256 || hasSigned(root, one)),
  );
}

/** Whether the signature is of this key, whatever the issuer may sign. */
export function isSignedBy(issuer: X509Certificate, certificate: X509Certificate): boolean {
  try {
    return certificate.verify(issuer.publicKey);
  } catch {
    // An unreadable key cannot verify a signature.
    return false;
  }
}
