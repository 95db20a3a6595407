import { type Route, route } from '../../../api/route.ts';
import { nullableString, stringEnum, Type } from '../../../api/schema.ts';
import { CACHE_KINDS } from '../../../hosting/contract/host.ts';
import type { InstallOperationService } from './install-operations.ts';
import { installOperationSchema } from './schema.ts';

/** Portal endpoints for the operations of an install and the options of a new one. */
export function operationPortalRoutes(operations: InstallOperationService): Route[] {
  const tag = 'Installs';
  return [
    route({
      method: 'GET',
      path: '/installs/:install_id/operations',
      operationId: 'listInstallOperations',
      summary: 'Operations of an install, in progress and recent, latest first',
      tag,
      errors: [401, 403, 404, 429, 503],
      success: 200,
      response: Type.Object({
        results: Type.Array(installOperationSchema),
        caches: Type.Array(stringEnum(CACHE_KINDS), { description: 'the caches that can be purged' }),
        next: Type.Object({
          purge_object: nullableString('earliest next purge of the object cache; null: now'),
          check_status: nullableString('earliest next domain check; null: now'),
          verify_domain: nullableString('earliest next domain verification; null: now'),
          order_certificate: nullableString('earliest next certificate order; null: now'),
        }),
      }),
      handle: ({ caller, id }) => operations.list(caller, id('install_id')),
    }),
    route({
      method: 'GET',
      path: '/install_options',
      operationId: 'getInstallOptions',
      summary: 'Options of a new install',
      tag,
      errors: [401, 403, 429, 503],
      success: 200,
      response: Type.Object({
        php_versions: Type.Array(Type.String(), {
          description: 'newest first; empty if websites run no PHP',
        }),
        site_domain: Type.String(),
      }),
      handle: () => operations.options(),
    }),
  ];
}
