import { X509Certificate } from 'node:crypto';
import { type Route, route } from '../../../api/route.ts';
import type { Static } from '../../../api/schema.ts';
import { certificateInformationSchema } from './schema.ts';
import type { CertificateService, CertificateView } from './service.ts';

function presentCertificate(
  view: CertificateView,
  contact: string | null,
): Static<typeof certificateInformationSchema> {
  const names = subjectAltNames(view.chain);
  return {
    cert_name: view.domain,
    cert_info: { key: view.key ?? '', cert: view.chain },
    certificate: {
      id: view.seq,
      account: view.account_id,
      auth_file: null,
      approver_email: view.source === 'LETS_ENCRYPT' && view.key !== null ? contact : null,
      common_name: names[0] ?? view.domain,
      cancel_time: null,
      cert_source: view.source,
      // The start of an order is not stored, and authorities backdate notBefore for slow clocks.
      ordered_time: view.created_at,
      order_id: orderId(view.order_url),
      status: view.expired ? 'EXPIRED' : 'ENABLED',
      parent_id: null,
      provider_order_id: view.order_url,
      approved_time: view.created_at,
      expires_time: view.not_after,
      auto_renew: view.source !== 'THIRD_PARTY',
      wildcard: names.some((name) => name.startsWith('*.')),
      domains: names,
    },
    criteria: view.domain,
  };
}

/** The DNS names of the leaf's subject alternative name (RFC 5280, section 4.2.1.6). */
function subjectAltNames(chain: string): string[] {
  const text = new X509Certificate(chain).subjectAltName ?? '';
  return [...text.matchAll(/DNS:([^,\s]+)/g)].map((match) => match[1] ?? '');
}

/** The last segment of an ACME order URL, which identifies the order (RFC 8555 section 7.1). */
function orderId(url: string | null): string | null {
  return url === null ? null : (url.split('/').at(-1) ?? null);
}

/** `contact`: the email address of the ACME account, shown to users who may see the key. */
export function certificateRoutes(certificates: CertificateService, contact: string | null): Route[] {
  return [
    route({
      method: 'GET',
      path: '/installs/:install_id/domains/:domain_id/ssl_certificate',
      operationId: 'getSslCertificate',
      summary: 'Get the certificate of a domain',
      description:
        'Returns the certificate that the edge serves for a domain. Owners and full users also receive its private key.',
      tag: 'Certificates',
      errors: [401, 403, 404, 429, 503],
      success: 200,
      isSecret: true,
      response: certificateInformationSchema,
      handle: async ({ caller, id }) =>
        presentCertificate(await certificates.get(caller, id('install_id'), id('domain_id')), contact),
    }),
  ];
}
