import { useQuery } from '@tanstack/react-query';
import { type BodyOf, type PortalPaths, portal } from './client.ts';
import { unwrap } from './failure.ts';

type AttentionRequest = PortalPaths['/portal/api/accounts/{account_id}/attention']['get'];
export type Reason = BodyOf<AttentionRequest>['results'][number]['reasons'][number];
export type Onboarding = BodyOf<PortalPaths['/portal/api/accounts/{account_id}/onboarding']['get']>;

/** Changes arrive live, but an expiry date only comes closer. */
const ATTENTION_EVERY_MS = 60_000;

/** Loads how many installs of an account need attention. */
export function useAttentionCount(accountId: string): number | undefined {
  return useQuery({ ...attentionOf(accountId, { limit: 0 }), select: ({ count }) => count }).data;
}

/** Loads the first installs of an account that need attention, with their names and the reasons, and the number of all. */
export function useAttentionList(accountId: string, limit: number) {
  return useQuery(attentionOf(accountId, { limit }));
}

/** Loads the reasons why an install needs attention; none without any. */
export function useReasons(install: { id: string; account: { id: string } }): readonly Reason[] | undefined {
  return useQuery({
    ...attentionOf(install.account.id, { install_id: install.id }),
    select: ({ results }) => results.flatMap(({ reasons }) => reasons),
  }).data;
}

function attentionOf(accountId: string, query: NonNullable<AttentionRequest['parameters']['query']>) {
  return {
    queryKey: ['attention', accountId, query],
    refetchInterval: ATTENTION_EVERY_MS,
    queryFn: () =>
      unwrap(
        portal.GET('/portal/api/accounts/{account_id}/attention', {
          params: { path: { account_id: accountId }, query },
        }),
      ),
  };
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
