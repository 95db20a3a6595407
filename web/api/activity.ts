import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { type BodyOf, type PortalPaths, portal } from './client.ts';
import { unwrap } from './failure.ts';

type Activity = PortalPaths['/portal/api/accounts/{account_id}/activity']['get'];

export type Entry = BodyOf<Activity>['results'][number];
/** What entries are asked for; what is left out narrows nothing. */
export type ActivityQuery = Omit<NonNullable<Activity['parameters']['query']>, 'limit' | 'offset'>;

/** So many entries are loaded at once. */
export const ENTRIES_A_PAGE = 100;

/** What was changed in an account, the latest first, from the entry `offset` on. */
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

/** Whom the activity tells of, be they gone from the account. */
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

/** Where the same entries are to be had for a spreadsheet. */
export function activityFile(accountId: string, query: ActivityQuery): string {
  const file = new URL(`portal/api/accounts/${accountId}/activity.csv`, document.baseURI);
  for (const [name, value] of Object.entries(query))
    if (value !== undefined) file.searchParams.set(name, value);
  return file.href;
}
