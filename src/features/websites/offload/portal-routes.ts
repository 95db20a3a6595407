import { type Route, route } from '../../../api/route.ts';
import { nullableEnum, nullableString, Type } from '../../../api/schema.ts';
import type { OffloadService } from './service.ts';

export function offloadPortalRoutes(offload: OffloadService): Route[] {
  return [
    route({
      method: 'GET',
      path: '/installs/:install_id/offload',
      operationId: 'getOffload',
      summary: 'Outcome of the last request for offload settings',
      tag: 'Offload',
      errors: [401, 403, 404, 429, 503],
      success: 200,
      response: Type.Object({
        state: nullableEnum(
          ['requested', 'in_force', 'refused', 'removing'],
          'null: never requested; removing: offload is being switched off',
        ),
        reason: nullableString('reason of a refusal, one sentence'),
        updated_at: nullableString(),
      }),
      handle: ({ caller, id }) => offload.standing(caller, id('install_id')),
    }),
  ];
}
