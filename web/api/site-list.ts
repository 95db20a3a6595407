import { useQuery } from '@tanstack/react-query';
import { type BodyOf, type PortalPaths, portal } from './client.ts';
import { unwrap } from './failure.ts';
import { keepPageOf } from './queries.ts';
import { INSTALL_LIST } from './query-keys.ts';

type List = PortalPaths['/portal/api/accounts/{account_id}/sites']['get'];

export type ListedSite = BodyOf<List>['results'][number];
/** The sort order; with `-`, descending. */
export type SiteOrder = 'name' | '-name' | 'installs' | '-installs' | 'created' | '-created';

/** Filters of the list of sites. An empty text matches every site. */
export interface SiteConditions {
  search: string;
  /** Tags separated by commas: all of them. */
  tags: string;
}

export const SITES_A_PAGE = 50;

const conditionsOf = ({ search, tags }: SiteConditions) => ({
  ...(search === '' ? {} : { search }),
  ...(tags === '' ? {} : { tags }),
});

const MOST_A_REQUEST = 100;

/** Loads all sites of an account that match, for a selection. */
export async function loadMatchingSites(
  accountId: string,
  conditions: SiteConditions,
): Promise<ListedSite[]> {
  const found: ListedSite[] = [];
  for (;;) {
    const { results, count } = await unwrap(
      portal.GET('/portal/api/accounts/{account_id}/sites', {
        params: {
          path: { account_id: accountId },
          query: { ...conditionsOf(conditions), offset: found.length, limit: MOST_A_REQUEST },
        },
      }),
    );
    found.push(...results);
    if (results.length === 0 || found.length >= count) return found;
  }
}

/** Loads one page of an account's sites, beginning with site `offset`. While another page loads, the former one stays. */
export function useSiteList(
  accountId: string,
  { search, tags }: SiteConditions,
  sort: SiteOrder,
  offset: number,
) {
  return useQuery({
    queryKey: ['site', accountId, INSTALL_LIST, search, tags, sort, offset],
    placeholderData: keepPageOf(accountId),
    queryFn: async ({ signal }) => {
      const page = await unwrap(
        portal.GET('/portal/api/accounts/{account_id}/sites', {
          params: {
            path: { account_id: accountId },
            query: { ...conditionsOf({ search, tags }), sort, offset, limit: SITES_A_PAGE },
          },
          signal,
        }),
      );
      return { ...page, conditions: { search, tags } };
    },
  });
}
