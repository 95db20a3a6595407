import { type Route, route } from '../../api/route.ts';
import { nullableString, stringEnum, Type } from '../../api/schema.ts';
import { CACHE_KINDS } from '../../hosting/contract/host.ts';
import type { OperationsService } from './operations.ts';
import { operationSchema } from './schema.ts';

/** The portal's endpoints for the operations of an install and the choices for a new one. */
export function operationPortalRoutes(operations: OperationsService): Route[] {
  const tag = 'Installs';
  return [
    route({
      method: 'GET',
      path: '/installs/:install_id/operations',
      summary: 'What is being done to an install, and what was done of late, the latest first',
      tag,
      errors: [401, 403, 404, 429, 503],
      success: 200,
      response: Type.Object({
        results: Type.Array(operationSchema),
        caches: Type.Array(stringEnum(CACHE_KINDS), { description: 'those that there are to purge' }),
        next: Type.Object({
          purge_object: nullableString('when the object cache may be purged again; null: now'),
          check_status: nullableString('when a domain may be checked again; null: now'),
          verify_domain: nullableString('when a domain may be verified again; null: now'),
        }),
      }),
      handle: ({ caller, id }) => operations.list(caller, id('install_id')),
    }),
    route({
      method: 'GET',
      path: '/install_options',
      summary: 'What a new install can be given',
      tag,
      errors: [401, 403, 429, 503],
      success: 200,
      response: Type.Object({
        php_versions: Type.Array(Type.String(), {
          description: 'newest first; none where websites run no PHP',
        }),
        site_domain: Type.String(),
      }),
      handle: () => operations.options(),
    }),
  ];
}
