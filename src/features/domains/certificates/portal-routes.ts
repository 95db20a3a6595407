import { bodyRoute, type Route } from '../../../api/route.ts';
import { Type } from '../../../api/schema.ts';
import type { CertificateService } from './service.ts';

export function certificatePortalRoutes({ readKey }: Pick<CertificateService, 'readKey'>): Route[] {
  return [
    bodyRoute({
      method: 'POST',
      path: '/installs/:install_id/domains/:domain_id/private_key',
      operationId: 'readPrivateKey',
      summary: 'Show the private key of a certificate, after the password; recorded in the activity',
      tag: 'Certificates',
      errors: [400, 401, 403, 404, 429, 503],
      success: 200,
      isSecret: true,
      response: Type.Object({ private_key: Type.String({ description: 'PEM' }) }),
      body: {
        resource: 'PrivateKey',
        schema: Type.Object({ current_password: Type.String({ minLength: 1, maxLength: 1024 }) }),
      },
      handle: async ({ caller, id }, { current_password: password }) => ({
        private_key: await readKey(caller, {
          installId: id('install_id'),
          domainId: id('domain_id'),
          password,
        }),
      }),
    }),
  ];
}
