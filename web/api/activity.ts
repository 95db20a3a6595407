import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { type BodyOf, type PortalPaths, portal } from './client.ts';
import { answered } from './failure.ts';

export type Entry = BodyOf<
  PortalPaths['/portal/api/accounts/{account_id}/activity']['get']
>['results'][number];

/** So many entries are loaded at once. */
export const ENTRIES_A_PAGE = 100;

/** What was changed in an account, the latest first, from the entry `offset` on. */
export function useActivity(accountId: string, offset: number) {
  return useQuery({
    queryKey: ['activity', accountId, offset],
    placeholderData: keepPreviousData,
    queryFn: () =>
      answered(
        portal.GET('/portal/api/accounts/{account_id}/activity', {
          params: { path: { account_id: accountId }, query: { limit: ENTRIES_A_PAGE, offset } },
        }),
      ),
  });
}
