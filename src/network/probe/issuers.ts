import type { X509Certificate } from 'node:crypto';

/** Signed by its own key, even if that key may not sign certificates (RFC 5280 section 4.2.1.3). */
export function isSelfSigned(certificate: X509Certificate): boolean {
  return certificate.subject === certificate.issuer && isSignedBy(certificate, certificate);
}

/** Whether `issuer` has issued the certificate: its name, its right to sign certificates and the signature agree. */
export function hasSigned(issuer: X509Certificate, certificate: X509Certificate): boolean {
  return certificate.checkIssued(issuer) && isSignedBy(issuer, certificate);
}

/** Whether a root is in the path, or has signed one of its certificates. */
export function endsAtRoot(path: readonly X509Certificate[], roots: readonly X509Certificate[]): boolean {
  return path.some((one) =>
    roots.some((root) => root.fingerprint256 === one.fingerprint256 || hasSigned(root, one)),
  );
}

function isSignedBy(issuer: X509Certificate, certificate: X509Certificate): boolean {
  try {
    return certificate.verify(issuer.publicKey);
  } catch {
    // An unreadable key cannot verify a signature.
    return false;
  }
}
