import { portal } from '../../api/client.ts';
import { refusalMessage, unwrap } from '../../api/failure.ts';
import { inBatches, type Named, type RefusedInstall } from './batches.ts';

/** What can be asked of several installs at once. */
export const BULK_ACTIONS = ['backup', 'purge_page_cache', 'purge_object_cache'] as const;
export type BulkAction = (typeof BULK_ACTIONS)[number];

/**
 * Asks for all in as few requests as the server takes, which does not depend on the page staying open beyond them. Returns the refused, in their
 * order.
 */
export function requestBulkAction(
  operation: BulkAction,
  description: string,
  installs: readonly Named[],
): Promise<RefusedInstall[]> {
  return inBatches(installs, async (slice) => {
    const { results } = await unwrap(
      portal.POST('/portal/api/installs/operations', {
        body: {
          operation,
          description: operation === 'backup' ? description : null,
          install_ids: slice.map(({ id }) => id),
        },
      }),
    );
    const refusals = new Map(results.map(({ install_id, refusal }) => [install_id, refusal]));
    return slice.flatMap(({ id, name }) => {
      const refusal = refusals.get(id) ?? null;
      return refusal === null ? [] : [{ id, name, sentence: refusalMessage(refusal) }];
    });
  });
}
