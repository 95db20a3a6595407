import { bodyRoute, type Route } from '../../../api/route.ts';
import { stringEnum, Type, uuid } from '../../../api/schema.ts';
import { type BulkService, OPERATIONS, type Refusal } from './service.ts';

/** More are asked in several requests. */
const MOST_INSTALLS = 500;

const refusalSchema = Type.Unsafe<Refusal | null>({
  type: ['object', 'null'],
  description: 'why nothing was asked of the install; null where it was',
  properties: {
    message: { type: 'string' },
    retry_after_seconds: { type: ['integer', 'null'], description: 'null where waiting will not help' },
  },
  required: ['message', 'retry_after_seconds'],
});

export function bulkRoutes(several: BulkService): Route[] {
  return [
    bodyRoute({
      method: 'POST',
      path: '/installs/operations',
      summary:
        'Ask the same of several installs: a result for each, and what is asked for is carried out by jobs',
      tag: 'Installs',
      errors: [400, 401, 403, 429, 503],
      success: 202,
      response: Type.Object({
        results: Type.Array(Type.Object({ install_id: uuid(), refusal: refusalSchema })),
      }),
      body: {
        resource: 'Installation',
        schema: Type.Object({
          operation: stringEnum(OPERATIONS),
          description: Type.Optional(
            Type.Unsafe<string | null>({
              type: ['string', 'null'],
              maxLength: 1000,
              description: 'what the backups are for; required of backups',
            }),
          ),
          install_ids: Type.Array(uuid(), { minItems: 1, maxItems: MOST_INSTALLS }),
        }),
      },
      handle: async ({ caller }, { operation, description = null, install_ids }) => ({
        results: await several.ask(caller, install_ids, { operation, description }),
      }),
    }),
  ];
}
