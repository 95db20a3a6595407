import { useQuery } from '@tanstack/react-query';
import { type BodyOf, type HostingPaths, hosting, portal } from './client.ts';
import { unwrap } from './failure.ts';
import { keepPageOf, POLL_MS } from './queries.ts';

export type InstallUsage = BodyOf<HostingPaths['/installs/{install_id}/usage']['get']>;
export type UsageDay = InstallUsage['metrics'][number];
export type UsageRollup = InstallUsage['metrics_rollup'];
export type EnvironmentUsage = BodyOf<
  HostingPaths['/accounts/{account_id}/usage']['get']
>['environment_metrics'][number];

/** Counts arrive within minutes, so older answers are loaded again. */
const STALE_MS = 60_000;

/** A requested measurement is expected within this time. */
const REFRESH_MS = 10 * 60_000;

/** Loads the usage of an install over the last 30 days. Polls while a measurement is in progress. */
export function useInstallUsage(installId: string) {
  return useQuery({
    queryKey: ['usage', installId],
    staleTime: STALE_MS,
    refetchInterval: ({ state }) => {
      const expected = state.data?.storage_refresh_expected_time;
      return typeof expected === 'string' && Date.parse(expected) - Date.now() < REFRESH_MS ? POLL_MS : false;
    },
    queryFn: () =>
      unwrap(hosting.GET('/installs/{install_id}/usage', { params: { path: { install_id: installId } } })),
  });
}

/**
 * Loads the usage of an account's installs over the last 30 days; with `tags` (with commas), of those whose site has all of them. While
 * that of other tags loads, the former one stays; its `tags` say what it shows.
 */
export function useAccountUsage(accountId: string, tags: string) {
  return useQuery({
    queryKey: ['usage', accountId, 'installs', tags],
    staleTime: STALE_MS,
    placeholderData: keepPageOf(accountId),
    queryFn: async () => {
      const environments: EnvironmentUsage[] = [];
      for (let offset = 0; ; ) {
        const page = await unwrap(
          hosting.GET('/accounts/{account_id}/usage', {
            params: {
              path: { account_id: accountId },
              query: { offset, ...(tags === '' ? {} : { tags }) },
            },
          }),
        );
        environments.push(...page.environment_metrics);
        if (page.next_page_token === null) return { ...page, environment_metrics: environments, tags };
        offset = Number(page.next_page_token);
      }
    },
  });
}

/** Loads the traffic of an account in the last 30 days. Days without requests are left out. */
export function useAccountTraffic(accountId: string) {
  return useQuery({
    queryKey: ['usage', accountId, 'days'],
    staleTime: STALE_MS,
    queryFn: async () => {
      const { results } = await unwrap(
        portal.GET('/portal/api/accounts/{account_id}/usage/days', {
          params: { path: { account_id: accountId } },
        }),
      );
      return results;
    },
  });
}

/** Loads the usage of an account since a day (`YYYY-MM-DD`, UTC). */
export function useUsageSummary(accountId: string, firstDate: string) {
  return useQuery({
    queryKey: ['usage', accountId, 'summary', firstDate],
    staleTime: STALE_MS,
    queryFn: () =>
      unwrap(
        hosting.GET('/accounts/{account_id}/usage/summary', {
          params: { path: { account_id: accountId }, query: { first_date: firstDate } },
        }),
      ),
  });
}

/** Loads the limits of an account. */
export function useAccountLimits(accountId: string) {
  return useQuery({
    queryKey: ['usage', accountId, 'limits'],
    staleTime: STALE_MS,
    queryFn: () =>
      unwrap(hosting.GET('/accounts/{account_id}/limits', { params: { path: { account_id: accountId } } })),
  });
}
