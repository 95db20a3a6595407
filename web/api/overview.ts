import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { type BodyOf, type PortalPaths, portal } from './client.ts';
import { unwrap } from './failure.ts';

export type Attention = BodyOf<
  PortalPaths['/portal/api/accounts/{account_id}/attention']['get']
>['results'][number];
export type Reason = Attention['reasons'][number];

/** Changes arrive live, but an expiry date only comes closer. */
const ATTENTION_EVERY_MS = 60_000;

/** Loads the installs of an account that need attention, with the reasons. */
export function useAttention(accountId: string) {
  return useQuery({
    queryKey: ['attention', accountId],
    refetchInterval: ATTENTION_EVERY_MS,
    queryFn: async () => {
      const { results } = await unwrap(
        portal.GET('/portal/api/accounts/{account_id}/attention', {
          params: { path: { account_id: accountId } },
        }),
      );
      return new Map(results.map(({ install_id, reasons }) => [install_id, reasons]));
    },
  });
}

/** Finds domains whose name contains `text`: the first match of each install. An empty text sends no request. */
export function useDomainSearch(accountId: string, text: string) {
  return useQuery({
    queryKey: ['domain', accountId, 'search', text],
    enabled: text !== '',
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      const { results } = await unwrap(
        portal.GET('/portal/api/accounts/{account_id}/domains', {
          params: { path: { account_id: accountId }, query: { search: text } },
          signal,
        }),
      );
      return new Map(results.map(({ install_id, name }) => [install_id, name]));
    },
  });
}
