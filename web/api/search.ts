import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { type BodyOf, type PortalPaths, portal } from './client.ts';
import { unwrap } from './failure.ts';

export type SearchResult = BodyOf<PortalPaths['/portal/api/search']['get']>['results'][number];

/**
 * Finds sites, installs, domains and tags whose name contains `text` in all accounts of the user, or in one. An empty text
 * sends no request.
 */
export const searchFor = (text: string, accountId?: string) =>
  queryOptions({
    queryKey: ['search', text, accountId],
    enabled: text !== '',
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) =>
      unwrap(
        portal.GET('/portal/api/search', {
          params: { query: { search: text, ...(accountId ? { account_id: accountId } : {}) } },
          signal,
        }),
      ),
  });
