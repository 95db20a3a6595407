import { useQuery } from '@tanstack/react-query';
import { type BodyOf, type HostingPaths, hosting } from './client.ts';
import { unwrap } from './failure.ts';

export type AccountTag = BodyOf<HostingPaths['/accounts/{account_id}/tags']['get']>['results'][number];

/** Loads the tags of an account. Changes of sites refresh them. */
export function useTags(accountId: string) {
  return useQuery({
    queryKey: ['site', accountId, 'tags'],
    queryFn: async () => {
      const { results } = await unwrap(
        hosting.GET('/accounts/{account_id}/tags', { params: { path: { account_id: accountId } } }),
      );
      return results;
    },
  });
}
