import { bodyRoute, type Route, route, Started } from '../../../api/route.ts';
import { tokenPagedRoute } from '../../../api/token-paged-route.ts';
import { presentCertificate, presentInformation } from './present.ts';
import {
  certificateInformationSchema,
  certificateListSchema,
  orderSchema,
  uploadBody,
  uploadedSchema,
  uploadSchema,
} from './schema.ts';
import type { CertificateService } from './service.ts';
import type { UploadService } from './uploads/service.ts';

/** `contact`: the email address of the ACME account, shown to users who may see the key. */
export function certificateRoutes(
  { certificates, uploads }: { certificates: CertificateService; uploads: UploadService },
  contact: string | null,
): Route[] {
  const tag = 'Certificates';
  return [
    tokenPagedRoute({
      path: '/installs/:install_id/ssl_certificates',
      operationId: 'getInstallCertificates',
      summary: 'List the certificates of an install',
      description:
        'Lists the certificates that the domains of an install have, oldest first. An uploaded certificate that several domains share is listed once. The list is empty until the install is first served.',
      tag,
      errors: [401, 403, 404, 429, 503],
      response: certificateListSchema,
      handle: ({ caller, id, page }) => certificates.list(caller, id('install_id'), page),
      envelope: ({ items, next_page_token }) => ({
        certificates: items.map((certificate) => presentCertificate(certificate, contact)),
        next_page_token,
      }),
    }),
    bodyRoute({
      method: 'POST',
      path: '/installs/:install_id/ssl_certificates/third_party',
      operationId: 'importThirdPartySSLCertificate',
      summary: 'Upload a certificate',
      description:
        'Serves a certificate from elsewhere for all domains of the install that it covers. The key must match, the chain must be complete and in order, and nothing may be expired. The private key is stored encrypted and never returned.',
      tag,
      errors: [400, 401, 403, 404, 429, 500, 503],
      success: 200,
      response: uploadedSchema,
      body: uploadBody,
      async handle({ caller, id }, { certificate, private_key }) {
        const { domains, not_after, serial_number } = await uploads.upload(caller, id('install_id'), {
          certificate,
          private_key,
          schema: uploadSchema,
        });
        return { certificate, private_key: '', domains, expires_time: not_after, serial_number };
      },
    }),
    route({
      method: 'GET',
      path: '/installs/:install_id/domains/:domain_id/ssl_certificate',
      operationId: 'getSslCertificate',
      summary: 'Get the certificate of a domain',
      description:
        'Returns the certificate that the edge serves for a domain. Owners and full users also receive its private key.',
      tag,
      errors: [401, 403, 404, 429, 503],
      success: 200,
      isSecret: true,
      response: certificateInformationSchema,
      handle: async ({ caller, id }) =>
        presentInformation(await certificates.get(caller, id('install_id'), id('domain_id')), contact),
    }),
    route({
      method: 'POST',
      path: '/installs/:install_id/domains/:domain_id/ssl_certificate',
      operationId: 'createDomainCertificateOrder',
      summary: 'Order a certificate for a domain',
      description:
        'Orders a certificate at the authority now, also if the domain has a valid one. The operation says why none was issued. Contact data is accepted and not kept.',
      tag,
      errors: [401, 403, 404, 429, 500, 503],
      success: 202,
      starts: 'certificate.order',
      unreadBody: orderSchema,
      handle: async ({ caller, id }) =>
        new Started(await certificates.order(caller, id('install_id'), id('domain_id')), undefined),
    }),
  ];
}
