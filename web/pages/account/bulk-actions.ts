import { portal } from '../../api/client.ts';
import { refusalMessage, unwrap } from '../../api/failure.ts';
import { inBatches, type Named, type Requested } from './batches.ts';

/** Actions that the server accepts for many installs at once. */
export const BULK_ACTIONS = ['backup', 'purge_page_cache', 'purge_object_cache', 'purge_all_caches'] as const;
export type BulkAction = (typeof BULK_ACTIONS)[number];

/**
 * Requests an action for many installs in as few requests as the server allows. The actions continue if the page is closed. Returns
 * one result for each install, in their order.
 */
export function requestBulkAction(
  operation: BulkAction,
  description: string,
  installs: readonly Named[],
): Promise<Requested[]> {
  return inBatches(installs, async (batch) => {
    const { results } = await unwrap(
      portal.POST('/portal/api/installs/operations', {
        body: {
          operation,
          description: operation === 'backup' ? description : null,
          install_ids: batch.map(({ id }) => id),
        },
      }),
    );
    const answers = new Map(results.map((answer) => [answer.install_id, answer]));
    return batch.flatMap(({ id, name }): Requested[] => {
      const answer = answers.get(id);
      if (answer === undefined) return [];
      const { operation_id, refusal } = answer;
      if (operation_id !== null) return [{ id, name, operationId: operation_id }];
      return refusal === null ? [] : [{ id, name, refusal: refusalMessage(refusal) }];
    });
  });
}
