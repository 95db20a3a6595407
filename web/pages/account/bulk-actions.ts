import { portal } from '../../api/client.ts';
import { refusalMessage, unwrap } from '../../api/failure.ts';
import { inBatches, type Named, type RefusedInstall } from './batches.ts';

/** Actions that the server accepts for many installs at once. */
export const BULK_ACTIONS = ['backup', 'purge_page_cache', 'purge_object_cache', 'purge_all_caches'] as const;
export type BulkAction = (typeof BULK_ACTIONS)[number];

/**
 * Requests an action for many installs in as few requests as the server allows. The actions continue if the page is
 * closed. Returns the refused installs in their order.
 */
export function requestBulkAction(
  operation: BulkAction,
  description: string,
  installs: readonly Named[],
): Promise<RefusedInstall[]> {
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
    const refusals = new Map(results.map(({ install_id, refusal }) => [install_id, refusal]));
    return batch.flatMap(({ id, name }) => {
      const refusal = refusals.get(id) ?? null;
      return refusal === null ? [] : [{ id, name, sentence: refusalMessage(refusal) }];
    });
  });
}
