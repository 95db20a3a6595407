import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { type BodyOf, type PortalPaths, portal } from './client.ts';
import { unwrap } from './failure.ts';

export type Attention = BodyOf<
  PortalPaths['/portal/api/accounts/{account_id}/attention']['get']
>['results'][number];
export type Reason = Attention['reasons'][number];

/** Changes of domains are told live; those of backups and of time are asked for. */
const ATTENTION_EVERY_MS = 60_000;

/** Which installs of an account somebody should see to, and why. Its topic is that of most of the reasons. */
export function useAttention(accountId: string) {
  return useQuery({
    queryKey: ['domain', accountId, 'attention'],
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

/** Of each install of an account that has a domain whose name holds `text`, the first such name. Nothing is asked for a blank text. */
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
