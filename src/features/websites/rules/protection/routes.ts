import { bodyRoute, type Route, route, Started } from '../../../../api/route.ts';
import { protectionSchema, updateProtectionBody } from './schema.ts';
import type { ProtectionService } from './service.ts';

export function protectionRoutes(protection: ProtectionService): Route[] {
  const tag = 'Rules';
  return [
    route({
      method: 'GET',
      path: '/installs/:install_id/protection',
      operationId: 'getProtection',
      summary: 'Get who may visit an install',
      description:
        'Returns the protection of an install with the password of its visitors, which you hand to those who may see the website. Credentials that only read get null.',
      tag,
      errors: [401, 403, 404, 429, 503],
      isSecret: true,
      success: 200,
      response: protectionSchema,
      handle: ({ caller, id }) => protection.get({ caller, installId: id('install_id') }),
    }),
    bodyRoute({
      method: 'PATCH',
      path: '/installs/:install_id/protection',
      operationId: 'updateProtection',
      summary: 'Change who may visit an install',
      description:
        'Changes the given fields and keeps the others; lists are replaced. The edge obeys within moments. New installs for staging and development begin with a password. Challenges of certificate authorities, domain checks and sign-in links work without it.',
      tag,
      errors: [400, 401, 403, 404, 429, 503],
      isSecret: true,
      success: 200,
      starts: 'install.apply',
      response: protectionSchema,
      body: updateProtectionBody,
      async handle({ caller, id }, body) {
        const { protection: present, operationId } = await protection.update(
          { caller, installId: id('install_id') },
          body,
        );
        return new Started(operationId, present);
      },
    }),
  ];
}
