import { idParameter, type QueryParameter, wordParameter } from '../../../api/query.ts';
import { pagedRoute, queryRoute, type Route, route, Started } from '../../../api/route.ts';
import { OPERATION_KINDS, OPERATION_STATUSES } from '../../../lib/operation.ts';
import { COUNTED_BOUNDEDLY } from '../../../lib/page.ts';
import { operationSchema } from './schema.ts';
import type { OperationService } from './service.ts';

/** Longest time that an answer is held. Shorter than the usual time limits of clients and proxies. */
const LONGEST_WAIT_SECONDS = 60;

const waitParameter: QueryParameter<'wait'> = {
  name: 'wait',
  schema: {
    type: 'integer',
    minimum: 0,
    maximum: LONGEST_WAIT_SECONDS,
    default: 0,
    description: 'seconds to wait for the end of the operation; over 60 counts as 60',
  },
  example: 30,
  // The endpoint lists no 400, so anything else counts as no wait.
  read: (text) => String(/^\d{1,9}$/.test(text) ? Math.min(Number(text), LONGEST_WAIT_SECONDS) : 0),
};

export function operationRoutes(operations: OperationService): Route[] {
  const tag = 'Operations';
  return [
    pagedRoute({
      path: '/operations',
      operationId: 'listOperations',
      summary: 'List operations',
      description:
        'Lists the operations that you may see, oldest first: work that requests started, and work that the platform does on your installs. They are kept for 30 days, also after the install is deleted. ' +
        COUNTED_BOUNDEDLY,
      tag,
      errors: [400, 401, 429, 503],
      item: operationSchema,
      filters: [
        idParameter('account_id'),
        idParameter('install_id'),
        wordParameter('status', OPERATION_STATUSES, 'operations in this state'),
        wordParameter('kind', OPERATION_KINDS, 'operations of this kind'),
      ],
      handle: ({ caller, page, filters }) => operations.list(caller, page, filters),
    }),
    queryRoute({
      path: '/operations/:operation_id',
      operationId: 'getOperation',
      summary: 'Get an operation',
      description:
        'Returns one operation. With `wait`, the answer comes when the operation ends, or after these seconds.',
      tag,
      errors: [401, 403, 404, 429, 503],
      parameters: [waitParameter],
      response: operationSchema,
      handle: ({ caller, id, query, disconnected, reauthenticate }) =>
        operations.wait(caller, id('operation_id'), {
          seconds: Number(query.wait ?? 0),
          disconnected,
          reauthenticate,
        }),
    }),
    route({
      method: 'DELETE',
      path: '/operations/:operation_id',
      operationId: 'cancelOperation',
      summary: 'Cancel an operation',
      description:
        'Cancels an operation that waits, or asks its worker to end it within seconds. 409 if it has ended or can no longer be cancelled, such as an update of WordPress once its first attempt has begun.',
      tag,
      errors: [401, 403, 404, 409, 429, 503],
      success: 204,
      handle: ({ caller, id }) => operations.cancel(caller, id('operation_id')),
    }),
    route({
      method: 'POST',
      path: '/operations/:operation_id/retry',
      operationId: 'retryOperation',
      summary: 'Repeat a failed operation',
      description:
        'Starts the work of a failed operation again with the same input, as a new operation, which `Location` names. The rules of a new request apply. 409 if it has not failed, cannot be repeated, its install or backup was deleted, or the same work is in progress on the install.',
      tag,
      errors: [400, 401, 403, 404, 409, 429, 500, 502, 503],
      success: 202,
      starts: 'any',
      handle: async ({ caller, id }) =>
        new Started(await operations.retry(caller, id('operation_id')), undefined),
    }),
  ];
}
