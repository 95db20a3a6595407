import { useQuery } from '@tanstack/react-query';
import { type BodyOf, type PortalPaths, portal } from './client.ts';
import { unwrap } from './failure.ts';

export type Attention = BodyOf<
  PortalPaths['/portal/api/accounts/{account_id}/attention']['get']
>['results'][number];
export type Reason = Attention['reasons'][number];
export type Onboarding = BodyOf<PortalPaths['/portal/api/accounts/{account_id}/onboarding']['get']>;

/** Changes arrive live, but an expiry date only comes closer. */
const ATTENTION_EVERY_MS = 60_000;

/** Loads the reasons why installs of an account need attention, by install. */
export function useAttention(accountId: string) {
  return useAttentionAs(accountId, byInstall);
}

/** Loads the installs of an account that need attention, with their names and the reasons. */
export function useAttentionList(accountId: string) {
  return useAttentionAs(accountId, asList);
}

const byInstall = (found: readonly Attention[]) =>
  new Map(found.map(({ install_id, reasons }) => [install_id, reasons]));
const asList = (found: readonly Attention[]) => found;

function useAttentionAs<Form>(accountId: string, select: (found: readonly Attention[]) => Form) {
  return useQuery({
    queryKey: ['attention', accountId],
    refetchInterval: ATTENTION_EVERY_MS,
    queryFn: async () => {
      const { results } = await unwrap(
        portal.GET('/portal/api/accounts/{account_id}/attention', {
          params: { path: { account_id: accountId } },
        }),
      );
      return results;
    },
    select,
  });
}

/** Loads which first steps were taken in an account. `enabled`: whether the user can take them. */
export function useOnboarding(accountId: string, enabled: boolean) {
  return useQuery({
    queryKey: ['onboarding', accountId],
    enabled,
    queryFn: () =>
      unwrap(
        portal.GET('/portal/api/accounts/{account_id}/onboarding', {
          params: { path: { account_id: accountId } },
        }),
      ),
  });
}
