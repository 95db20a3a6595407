import { useQuery } from '@tanstack/react-query';
import { type BodyOf, type PortalPaths, portal } from './client.ts';
import { unwrap } from './failure.ts';
import { keepPageOf } from './queries.ts';
import { INSTALL_LIST } from './query-keys.ts';

type List = PortalPaths['/portal/api/accounts/{account_id}/sites']['get'];

export type ListedSite = BodyOf<List>['results'][number];
/** The sort order; with `-`, descending. */
export type SiteOrder = 'name' | '-name' | 'installs' | '-installs' | 'created' | '-created';

export const SITES_A_PAGE = 50;

/** Loads one page of an account's sites, beginning with site `offset`. While another page loads, the former one stays. */
export function useSiteList(accountId: string, search: string, sort: SiteOrder, offset: number) {
  return useQuery({
    queryKey: ['site', accountId, INSTALL_LIST, search, sort, offset],
    placeholderData: keepPageOf(accountId),
    queryFn: ({ signal }) =>
      unwrap(
        portal.GET('/portal/api/accounts/{account_id}/sites', {
          params: {
            path: { account_id: accountId },
            query: { ...(search === '' ? {} : { search }), sort, offset, limit: SITES_A_PAGE },
          },
          signal,
        }),
      ),
  });
}
