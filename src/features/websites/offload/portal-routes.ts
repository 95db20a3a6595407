import { type Route, route } from '../../../api/route.ts';
import { nullableEnum, nullableString, Type } from '../../../api/schema.ts';
import type { OffloadService } from './service.ts';

export function offloadPortalRoutes(offload: OffloadService): Route[] {
  return [
    route({
      method: 'GET',
      path: '/installs/:install_id/offload',
      summary: 'How the last request for offload settings fared',
      tag: 'Offload',
      errors: [401, 403, 404, 429, 503],
      success: 200,
      response: Type.Object({
        state: nullableEnum(['requested', 'in_force', 'refused'], 'null: nothing was ever asked for'),
        reason: nullableString('why it was refused, one sentence'),
        updated_at: nullableString(),
      }),
      handle: ({ caller, id }) => offload.standing(caller, id('install_id')),
    }),
  ];
}
