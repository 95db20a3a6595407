import { useQuery } from '@tanstack/react-query';
import { type BodyOf, type PortalPaths, portal } from './client.ts';
import { unwrap } from './failure.ts';
import { keepPageOf } from './queries.ts';
import { INSTALL_LIST } from './query-keys.ts';

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

/** Loads which of these installs exist. */
export function usePresentInstalls(accountId: string, ids: readonly string[]) {
  return useQuery({
    queryKey: ['install', accountId, 'present', ...ids],
    enabled: ids.length > 0,
    placeholderData: keepPageOf(accountId),
    queryFn: async () => {
      const { results } = await unwrap(
        portal.GET('/portal/api/accounts/{account_id}/matching_installs', {
          params: { path: { account_id: accountId }, query: { ids: ids.join(',') } },
        }),
      );
      return new Set(results.map(({ id }) => id));
    },
  });
}
