import { useQuery } from '@tanstack/react-query';
import { type BodyOf, type HostingPaths, hosting } from './client.ts';
import { unwrap } from './failure.ts';

export type Member = BodyOf<HostingPaths['/accounts/{account_id}/account_users/{user_id}']['get']>;

/** The people of an account; for partial users their own entry. */
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
