import type { QueryClient } from '@tanstack/react-query';
import { changeBack } from '../../api/change-back.ts';
import { hosting } from '../../api/client.ts';
import { FormError, unwrap } from '../../api/failure.ts';
import type { Install } from '../../api/installs.ts';
import type { Environment } from '../../components/environments.ts';
import { offerUndo } from '../../components/offer-undo.ts';

export interface Place {
  site_id: string | null;
  environment: Environment | null;
}

export const placeOf = ({ site, environment }: Pick<Install, 'site' | 'environment'>): Place => ({
  site_id: site?.id ?? null,
  environment,
});

const isSamePlace = (one: Place, other: Place): boolean =>
  one.site_id === other.site_id && one.environment === other.environment;

/** Reloads what shows the place of an install. */
const reloadPlaces = (queries: QueryClient) =>
  Promise.all(['site', 'install'].map((topic) => queries.invalidateQueries({ queryKey: [topic] })));

/**
 * Moves an install to a place, or out of its site, and offers to move it back. `sentenceOf` confirms the move. Throws FormError if someone
 * else has moved it from the place that the user has `seen`.
 */
export async function moveWithUndo(
  queries: QueryClient,
  installId: string,
  to: Place,
  sentenceOf: (name: string) => string,
  seen?: Place,
): Promise<void> {
  const params = { path: { install_id: installId } };
  const read = () => hosting.GET('/installs/{install_id}', { params });
  const former = placeOf(await unwrap(read()));
  if (seen !== undefined && !isSamePlace(former, seen)) {
    throw new FormError('Someone else has moved this install. Close this dialog, and open it again.');
  }
  const moved = await unwrap(hosting.PATCH('/installs/{install_id}', { params, body: to }));
  const set = placeOf(moved);
  await reloadPlaces(queries);
  offerUndo(sentenceOf(moved.name), async () => {
    try {
      await changeBack({
        read,
        isAsSet: (install) => isSamePlace(placeOf(install), set),
        write: (header) =>
          hosting.PATCH('/installs/{install_id}', { params: { ...params, header }, body: former }),
        refusal: `Someone moved ${moved.name} again since. It stays where it is.`,
      });
    } finally {
      await reloadPlaces(queries);
    }
    return `Moved ${moved.name} back.`;
  });
}
