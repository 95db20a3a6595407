import { portal } from '../../api/client.ts';
import { answered, sentenceForRefusal } from '../../api/failure.ts';

/** What can be asked of several installs at once. */
export const SEVERAL = ['backup', 'purge_page_cache', 'purge_object_cache'] as const;
export type ForSeveral = (typeof SEVERAL)[number];

interface Named {
  id: string;
  name: string;
}

/** An install of which it could not be asked, and why. */
export interface NotDone extends Named {
  sentence: string;
}

/** Asks for all in one request, which does not depend on the page staying open. Returns the refused, in their order. */
export async function askForSeveral(
  operation: ForSeveral,
  description: string,
  installs: readonly Named[],
): Promise<NotDone[]> {
  const { results } = await answered(
    portal.POST('/portal/api/installs/operations', {
      body: {
        operation,
        description: operation === 'backup' ? description : null,
        install_ids: installs.map(({ id }) => id),
      },
    }),
  );
  const refusals = new Map(results.map(({ install_id, refusal }) => [install_id, refusal]));
  return installs.flatMap(({ id, name }) => {
    const refusal = refusals.get(id) ?? null;
    return refusal === null ? [] : [{ id, name, sentence: sentenceForRefusal(refusal) }];
  });
}
