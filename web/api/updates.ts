import { useQuery } from '@tanstack/react-query';
import { type BodyOf, type HostingPaths, hosting } from './client.ts';
import { unwrap } from './failure.ts';
import { POLL_MS } from './queries.ts';

type UpdatesAnswer = BodyOf<HostingPaths['/installs/{install_id}/wordpress/updates']['get']>;
export type Update = UpdatesAnswer['results'][number];
export type UpdatePolicy = BodyOf<HostingPaths['/installs/{install_id}/wordpress/update_policy']['get']>;

const SHOWN = 10;

/** Loads the newest updates of an install. */
export function useUpdates(installId: string) {
  return useQuery({
    // An operation changes with each update.
    queryKey: ['operation', installId, 'updates'],
    queryFn: async () => {
      const { results } = await unwrap(
        hosting.GET('/installs/{install_id}/wordpress/updates', {
          params: { path: { install_id: installId }, query: { limit: SHOWN } },
        }),
      );
      return results;
    },
    refetchInterval: ({ state }) =>
      state.data?.some(({ status }) => status === 'requested' || status === 'running') ? POLL_MS : false,
  });
}

/** Loads the policy of an install for automatic updates. */
export function useUpdatePolicy(installId: string) {
  return useQuery({
    queryKey: ['update-policy', installId],
    queryFn: () =>
      unwrap(
        hosting.GET('/installs/{install_id}/wordpress/update_policy', {
          params: { path: { install_id: installId } },
        }),
      ),
  });
}
