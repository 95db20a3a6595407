import { X509Certificate } from 'node:crypto';
import type { Static } from 'typebox';
import type { CertificateSource } from '../../database/tables.ts';
import type { domainCheckSchema } from './schema.ts';

type ReportedCertificate = Static<typeof domainCheckSchema>['ssl'];

/** The numbers of Go's crypto/x509 for the algorithms that certificates here are signed with (gaps section 5). */
const SIGNATURE_ALGORITHMS: Record<string, number> = {
  '1.2.840.113549.1.1.11': 4,
  '1.2.840.10045.4.3.2': 10,
  '1.2.840.10045.4.3.3': 11,
  '1.3.101.112': 16,
};

/** What a report says of the certificate that the edge shows; with no certificate, that there is none. */
export function reportCertificate(
  certificate: { source: CertificateSource; chain: string } | undefined,
  now: Date,
): ReportedCertificate {
  if (!certificate)
    return { ...EMPTY, status: 'none', error: 'The edge has no certificate for this name yet.' };
  const leaf = new X509Certificate(certificate.chain);
  const names = [...(leaf.subjectAltName ?? '').matchAll(/DNS:([^,\s]+)/g)].map((match) => match[1] ?? '');
  const expired = leaf.validToDate <= now;
  const selfSigned = certificate.source === 'SELF_SIGNED';
  return {
    status: expired ? 'failed' : selfSigned ? 'self_signed' : 'verified',
    issuer: attribute(leaf.issuer, 'CN')[0] ?? '',
    not_before: leaf.validFromDate.toISOString(),
    not_after: leaf.validToDate.toISOString(),
    error: expired
      ? 'The certificate has expired.'
      : selfSigned
        ? 'The certificate is self-signed; browsers warn of it.'
        : '',
    serial_number: leaf.serialNumber,
    common_name: attribute(leaf.subject, 'CN')[0] ?? '',
    dns_names: names,
    sans: names,
    signature_algorithm: SIGNATURE_ALGORITHMS[leaf.signatureAlgorithmOid ?? ''] ?? 0,
    subject: {
      common_name: attribute(leaf.subject, 'CN')[0] ?? '',
      organization: attribute(leaf.subject, 'O'),
      organizational_unit: attribute(leaf.subject, 'OU'),
      country: attribute(leaf.subject, 'C'),
      province: attribute(leaf.subject, 'ST'),
      locality: attribute(leaf.subject, 'L'),
    },
  };
}

/** Node prints a name one attribute a line, `CN=example.com`. */
function attribute(name: string | undefined, type: string): string[] {
  return (name ?? '')
    .split('\n')
    .filter((line) => line.startsWith(`${type}=`))
    .map((line) => line.slice(type.length + 1));
}

const EMPTY: ReportedCertificate = {
  status: '',
  issuer: '',
  not_before: '',
  not_after: '',
  error: '',
  serial_number: '',
  common_name: '',
  dns_names: [],
  sans: [],
  signature_algorithm: 0,
  subject: {
    common_name: '',
    organization: [],
    organizational_unit: [],
    country: [],
    province: [],
    locality: [],
  },
};
