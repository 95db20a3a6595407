import { bodyRoute, type Route, route } from '../../../api/route.ts';
import { nullableString, stringEnum, Type, uuid } from '../../../api/schema.ts';
import { CACHE_KINDS } from '../../../hosting/contract/host.ts';
import { RUNTIMES } from '../../../hosting/contract/install-state.ts';
import type { InstallOperationService } from './install-operations.ts';
import { installOperationSchema, operationSchema } from './schema.ts';
import type { OperationService } from './service.ts';

/** As many as one request starts (`POST /installs/operations`). */
const MOST_OPERATIONS = 500;

/** Portal endpoints for the operations of an install and the options of a new one. */
export function operationPortalRoutes(
  operations: InstallOperationService,
  { listByIds }: Pick<OperationService, 'listByIds'>,
): Route[] {
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
    bodyRoute({
      method: 'POST',
      path: '/operations/read',
      operationId: 'readOperations',
      summary: 'Read operations by their IDs; those that you may not see are left out',
      tag,
      errors: [400, 401, 403, 429, 503],
      success: 200,
      response: Type.Object({ results: Type.Array(operationSchema) }),
      body: {
        resource: 'Operation',
        schema: Type.Object({
          operation_ids: Type.Array(uuid(), { minItems: 1, maxItems: MOST_OPERATIONS }),
        }),
      },
      handle: async ({ caller }, { operation_ids }) => ({ results: await listByIds(caller, operation_ids) }),
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
          description: 'newest first; empty if there is no choice',
        }),
        runtimes: Type.Array(stringEnum(RUNTIMES), {
          description: 'what a new install can run; the default comes first',
        }),
        site_domain: Type.String(),
      }),
      handle: () => operations.options(),
    }),
  ];
}
