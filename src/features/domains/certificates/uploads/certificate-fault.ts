import type { X509Certificate } from 'node:crypto';
import { type InvalidRequest, invalidValue } from '../../../../lib/failures.ts';
import { parsePeerCertificate } from '../../../../network/probe/peer-certificate.ts';
import { quotable } from '../../../../network/probe/untrusted-text.ts';

/** A fault of an uploaded certificate or key. `message`: what is wrong, then what to do. Never holds parts of a key. */
export function uploadFault(
  field: 'certificate' | 'private_key',
  code: string,
  message: string,
): InvalidRequest {
  return invalidValue('Certificate', field, code, message);
}

/** The subject of a certificate for a sentence: its common name, else its first host name or its organization. */
export function subjectOf(certificate: X509Certificate): string {
  const { commonName, dnsNames, subject } = parsePeerCertificate(certificate);
  return `"${quotable(commonName || (dnsNames[0] ?? subject.organization[0] ?? 'no name'))}"`;
}

/** The issuer of a certificate for a sentence. */
export function issuerOf(certificate: X509Certificate): string {
  return `"${quotable(parsePeerCertificate(certificate).issuer || 'no name')}"`;
}

export const dayOf = (date: Date): string => date.toISOString().slice(0, 10);
