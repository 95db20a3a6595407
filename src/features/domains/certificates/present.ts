import { X509Certificate } from 'node:crypto';
import type { Static } from '../../../api/schema.ts';
import { parsePeerCertificate } from '../../../network/probe/peer-certificate.ts';
import type { certificateInformationSchema, certificateSchema } from './schema.ts';
import type { CertificateView, ListedCertificate } from './service.ts';

export function presentInformation(
  view: CertificateView,
  contact: string | null,
): Static<typeof certificateInformationSchema> {
  return {
    cert_name: view.domain,
    cert_info: { key: view.key ?? '', cert: view.chain },
    certificate: presentCertificate(view, contact),
    criteria: view.domain,
  };
}

/** `contact`: the email address of the ACME account, shown to users who may see private keys. */
export function presentCertificate(
  listed: ListedCertificate,
  contact: string | null,
): Static<typeof certificateSchema> {
  const { dnsNames: names, serialNumber, issuer } = parsePeerCertificate(new X509Certificate(listed.chain));
  return {
    id: listed.seq,
    account: listed.account_id,
    auth_file: null,
    approver_email: listed.source === 'LETS_ENCRYPT' && listed.may_see_key ? contact : null,
    common_name: names[0] ?? listed.domain,
    cancel_time: null,
    cert_source: listed.source,
    // The start of an order is not stored, and authorities backdate notBefore for slow clocks.
    ordered_time: listed.created_at,
    order_id: orderId(listed.order_url),
    status: listed.expired ? 'EXPIRED' : 'ENABLED',
    parent_id: null,
    provider_order_id: listed.order_url,
    approved_time: listed.created_at,
    expires_time: listed.not_after,
    auto_renew: listed.source !== 'THIRD_PARTY',
    wildcard: names.some((name) => name.startsWith('*.')),
    domains: names,
    serial_number: serialNumber,
    issuer,
  };
}

/** The last segment of an ACME order URL, which identifies the order (RFC 8555 section 7.1). */
function orderId(url: string | null): string | null {
  return url === null ? null : (url.split('/').at(-1) ?? null);
}
