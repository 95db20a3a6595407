import { useQuery } from '@tanstack/react-query';
import { allPages } from './all-pages.ts';
import { type BodyOf, type HostingPaths, hosting } from './client.ts';
import { unwrap } from './failure.ts';

export type Transfer = BodyOf<HostingPaths['/sites/{site_id}/site_transfers/{transfer_id}']['get']>;

/** The server's limit for a scheduled transfer, in days. */
export const MOST_DAYS_AHEAD = 30;

/** Returns whether a transfer can still happen. */
export const isOpen = ({ status }: Transfer): boolean =>
  status === 'pending' || status === 'scheduled' || status === 'in_progress';

/** Loads the transfers from and to an account, newest first. With `enabled` false, sends no request. */
export function useTransfers(accountId: string, enabled = true) {
  return useQuery({
    queryKey: ['transfer', accountId],
    enabled,
    queryFn: async () => {
      const all = await allPages((page) =>
        unwrap(
          hosting.GET('/accounts/{account_id}/site_transfers', {
            params: { path: { account_id: accountId }, query: page },
          }),
        ),
      );
      return all.toReversed();
    },
  });
}
