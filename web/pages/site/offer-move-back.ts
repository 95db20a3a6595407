import type { QueryClient } from '@tanstack/react-query';
import { hosting } from '../../api/client.ts';
import { unwrap } from '../../api/failure.ts';
import type { Environment } from '../../components/environments.ts';
import { offerUndo } from '../../components/offer-undo.ts';

/** Reloads what shows the place of an install. */
export const reloadPlaces = (queries: QueryClient) =>
  Promise.all(['site', 'install'].map((topic) => queries.invalidateQueries({ queryKey: [topic] })));

/** Confirms that an install left its place in a site, and offers to move it back. */
export function offerMoveBack(
  queries: QueryClient,
  sentence: string,
  { id, name }: { id: string; name: string },
  { site_id, environment }: { site_id: string | null; environment: Environment | null },
): void {
  offerUndo(sentence, async () => {
    await unwrap(
      hosting.PATCH('/installs/{install_id}', {
        params: { path: { install_id: id } },
        body: { site_id, environment },
      }),
    );
    await reloadPlaces(queries);
    return `Moved ${name} back.`;
  });
}
