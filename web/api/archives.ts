import { useQuery } from '@tanstack/react-query';
import { portal } from './client.ts';
import { unwrap } from './failure.ts';
import { POLL_MS } from './queries.ts';

/** An install has at most three archives that take space; the others were aborted or have expired. */
const MOST_ARCHIVES = 20;

/** Loads the archives of an install, newest first. Expired ones are listed until the server deletes them. */
export function useArchives(installId: string) {
  return useQuery({
    // A change to an archive is a change to its backup.
    queryKey: ['backup', installId, 'archives'],
    queryFn: async () => {
      const { results } = await unwrap(
        portal.GET('/portal/api/installs/{install_id}/archives', {
          params: { path: { install_id: installId }, query: { limit: MOST_ARCHIVES } },
        }),
      );
      return results;
    },
    refetchInterval: ({ state }) =>
      state.data?.some(({ state: of }) => of === 'requested' || of === 'in_progress') ? POLL_MS : false,
  });
}

export type Archive = NonNullable<ReturnType<typeof useArchives>['data']>[number];
