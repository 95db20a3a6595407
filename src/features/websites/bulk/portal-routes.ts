import { bodyRoute, type Route } from '../../../api/route.ts';
import { nullableString, stringEnum, Type, uuid } from '../../../api/schema.ts';
import { type BulkService, OPERATIONS, type Refusal } from './service.ts';

/** Clients split longer lists into several requests. */
const MOST_INSTALLS = 500;

const refusalSchema = Type.Unsafe<Refusal | null>({
  type: ['object', 'null'],
  description: 'why the install was refused; null if it was not',
  properties: {
    message: { type: 'string' },
    retry_after_seconds: { type: ['integer', 'null'], description: 'null if waiting does not help' },
  },
  required: ['message', 'retry_after_seconds'],
});

export function bulkRoutes(several: BulkService): Route[] {
  return [
    bodyRoute({
      method: 'POST',
      path: '/installs/operations',
      operationId: 'createBulkOperation',
      summary: 'Run one operation on many installs; jobs carry it out, and each install has a result',
      tag: 'Installs',
      errors: [400, 401, 403, 429, 503],
      success: 202,
      response: Type.Object({
        results: Type.Array(
          Type.Object({
            install_id: uuid(),
            operation_id: nullableString('the operation of this install; null if it was refused'),
            refusal: refusalSchema,
          }),
        ),
      }),
      body: {
        resource: 'Installation',
        schema: Type.Object({
          operation: stringEnum(OPERATIONS),
          description: Type.Optional(
            Type.Unsafe<string | null>({
              type: ['string', 'null'],
              maxLength: 1000,
              description: 'purpose of the backups; required for backups',
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
