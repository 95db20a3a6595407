import { portal } from '../../api/client.ts';
import { answered, sentenceForRefusal } from '../../api/failure.ts';
import { inSlices, type Named, type NotDone } from './slices.ts';

/** What can be asked of several installs at once. */
export const SEVERAL = ['backup', 'purge_page_cache', 'purge_object_cache'] as const;
export type ForSeveral = (typeof SEVERAL)[number];

/**
 * Asks for all in as few requests as the server takes, which does not depend on the page staying open beyond them. Returns the refused, in their
 * order.
 */
export function askForSeveral(
  operation: ForSeveral,
  description: string,
  installs: readonly Named[],
): Promise<NotDone[]> {
  return inSlices(installs, async (slice) => {
    const { results } = await answered(
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
      return refusal === null ? [] : [{ id, name, sentence: sentenceForRefusal(refusal) }];
    });
  });
}
