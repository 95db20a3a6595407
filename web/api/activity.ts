import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { type BodyOf, type PortalPaths, portal } from './client.ts';
import { unwrap } from './failure.ts';

type Activity = PortalPaths['/portal/api/accounts/{account_id}/activity']['get'];

export type Entry = BodyOf<Activity>['results'][number];
/** Filters of the activity. A filter that is left out matches every entry. */
export type ActivityQuery = Omit<NonNullable<Activity['parameters']['query']>, 'limit' | 'offset'>;

/** Number of entries on each page. */
export const ENTRIES_A_PAGE = 100;

/** Loads a page of an account's activity, newest first, beginning with entry `offset`. */
export function useActivity(accountId: string, query: ActivityQuery, offset: number) {
  return useQuery({
    queryKey: ['activity', accountId, query, offset],
    placeholderData: keepPreviousData,
    queryFn: () =>
      unwrap(
        portal.GET('/portal/api/accounts/{account_id}/activity', {
          params: { path: { account_id: accountId }, query: { ...query, limit: ENTRIES_A_PAGE, offset } },
        }),
      ),
  });
}

const RECENT_ENTRIES = 6;

/** Loads the newest entries of an account's activity. `enabled`: whether the user may see it. */
export function useRecentActivity(accountId: string, enabled = true) {
  return useQuery({
    queryKey: ['activity', accountId, 'recent'],
    enabled,
    queryFn: () =>
      unwrap(
        portal.GET('/portal/api/accounts/{account_id}/activity', {
          params: { path: { account_id: accountId }, query: { limit: RECENT_ENTRIES } },
        }),
      ),
  });
}

/** Loads the people who appear in the activity, including former members. */
export function useActivityPeople(accountId: string) {
  return useQuery({
    queryKey: ['activity', accountId, 'people'],
    staleTime: 60_000,
    queryFn: async () => {
      const { results } = await unwrap(
        portal.GET('/portal/api/accounts/{account_id}/activity/people', {
          params: { path: { account_id: accountId } },
        }),
      );
      return results;
    },
  });
}

/** Returns the URL of the same entries as a CSV file. */
export function activityFile(accountId: string, query: ActivityQuery): string {
  const file = new URL(`portal/api/accounts/${accountId}/activity.csv`, document.baseURI);
  for (const [name, value] of Object.entries(query))
    if (value !== undefined) file.searchParams.set(name, value);
  return file.href;
}
