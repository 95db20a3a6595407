import { useQuery } from '@tanstack/react-query';
import { type BodyOf, type HostingPaths, hosting } from './client.ts';
import { unwrap } from './failure.ts';

export type Member = BodyOf<HostingPaths['/accounts/{account_id}/account_users/{user_id}']['get']>;

/** Loads the people of an account. Partial users see only themselves. */
export function usePeople(accountId: string) {
  return useQuery({
    queryKey: ['member', accountId],
    queryFn: async () => {
      const { results } = await unwrap(
        hosting.GET('/accounts/{account_id}/account_users', { params: { path: { account_id: accountId } } }),
      );
      return results;
    },
  });
}
