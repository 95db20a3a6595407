import { useQuery } from '@tanstack/react-query';
import { type BodyOf, type PortalPaths, portal } from './client.ts';
import { unwrap } from './failure.ts';
import { keepPageOf } from './queries.ts';
import { INSTALL_LIST } from './query-keys.ts';
import { slicesOf } from './slices.ts';

type List = PortalPaths['/portal/api/accounts/{account_id}/installs']['get'];
type Matching = PortalPaths['/portal/api/accounts/{account_id}/matching_installs']['get'];

export type ListedInstall = BodyOf<List>['results'][number];
export type SelectedInstall = BodyOf<Matching>['results'][number];

/** Filters of the list of installs. A filter that is left out matches every install. */
export type InstallConditions = Omit<NonNullable<Matching['parameters']['query']>, 'ids'>;
/** The sort order; with `-`, descending. */
export type InstallOrder = NonNullable<NonNullable<List['parameters']['query']>['sort']>;

export const INSTALLS_A_PAGE = 50;

/**
 * Loads one page of an account's installs, beginning with install `offset`. While another page loads, the former one
 * stays; its `conditions` say what it shows.
 */
export function useInstallList(
  accountId: string,
  conditions: InstallConditions,
  sort: InstallOrder,
  offset: number,
) {
  return useQuery({
    queryKey: ['install', accountId, INSTALL_LIST, conditions, sort, offset],
    placeholderData: keepPageOf(accountId),
    queryFn: async ({ signal }) => {
      const query = { ...conditions, sort, offset, limit: INSTALLS_A_PAGE };
      const page = await unwrap(
        portal.GET('/portal/api/accounts/{account_id}/installs', {
          params: { path: { account_id: accountId }, query },
          signal,
        }),
      );
      return { ...page, conditions };
    },
  });
}

/** Loads all installs of an account that match, for a selection. */
export async function loadMatchingInstalls(
  accountId: string,
  conditions: InstallConditions,
): Promise<SelectedInstall[]> {
  const { results } = await unwrap(
    portal.GET('/portal/api/accounts/{account_id}/matching_installs', {
      params: { path: { account_id: accountId }, query: conditions },
    }),
  );
  return results;
}

/** IDs in one request; more make its address too long. */
const IDS_A_REQUEST = 100;

/** Loads those of these installs that exist, by name. */
export function useInstallsById(accountId: string, ids: readonly string[]) {
  return useQuery({
    queryKey: ['install', accountId, 'present', ...ids],
    enabled: ids.length > 0,
    placeholderData: keepPageOf(accountId),
    queryFn: async () => {
      const found = await Promise.all(
        slicesOf(ids, IDS_A_REQUEST).map((slice) =>
          unwrap(
            portal.GET('/portal/api/accounts/{account_id}/matching_installs', {
              params: { path: { account_id: accountId }, query: { ids: slice.join(',') } },
            }),
          ),
        ),
      );
      return found.flatMap(({ results }) => results);
    },
  });
}

/** Loads the first installs of an account that match, by name. */
export const useFirstInstalls = (accountId: string, conditions: InstallConditions) =>
  useInstallList(accountId, conditions, 'name', 0);

/** Production, staging and development have one install each. */
const SLOTS_OF_A_SITE = 3;

/** Loads the installs of a site that have an environment; without a site, no request is sent. */
export function useEnvironmentsOfSite(accountId: string, siteId: string | undefined) {
  return useQuery({
    queryKey: ['install', accountId, INSTALL_LIST, 'environments', siteId],
    enabled: siteId !== undefined,
    queryFn: async () => {
      const { results } = await unwrap(
        portal.GET('/portal/api/accounts/{account_id}/installs', {
          params: {
            path: { account_id: accountId },
            // Those without an environment come last.
            query: { site: siteId ?? '', sort: 'environment', limit: SLOTS_OF_A_SITE },
          },
        }),
      );
      return results.filter(({ environment }) => environment !== null);
    },
  });
}
