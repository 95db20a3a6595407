import { useQuery } from '@tanstack/react-query';
import { allPages } from '../../api/all-pages.ts';
import { type HostingPaths, hosting, type PortalPaths, portal } from '../../api/client.ts';
import { answered } from '../../api/failure.ts';

type Body<Operation> = Operation extends {
  responses: { 200: { content: { 'application/json': infer Json } } };
}
  ? Json
  : never;

export type Site = Body<HostingPaths['/sites/{site_id}']['get']>;
export type Install = Body<HostingPaths['/installs/{install_id}']['get']>;
export type Member = Body<HostingPaths['/accounts/{account_id}/account_users/{user_id}']['get']>;
export type Entry = Body<PortalPaths['/portal/api/accounts/{account_id}/activity']['get']>['results'][number];

/** All sites of an account that the person may see. */
export function useSites(accountId: string) {
  return useQuery({
    queryKey: ['site', accountId],
    queryFn: () =>
      allPages((page) =>
        answered(hosting.GET('/sites', { params: { query: { account_id: accountId, ...page } } })),
      ),
  });
}

/** One site. Which account it is of is known only by loading it, so that its key names none, and a change of any site reloads it. */
export function useSite(siteId: string) {
  return useQuery({
    queryKey: ['site', undefined, siteId],
    queryFn: () => answered(hosting.GET('/sites/{site_id}', { params: { path: { site_id: siteId } } })),
  });
}

/** All installs of an account that the person may see. */
export function useInstalls(accountId: string | undefined) {
  return useQuery({
    queryKey: ['install', accountId],
    enabled: accountId !== undefined,
    queryFn: () =>
      allPages((page) =>
        answered(
          hosting.GET('/installs', {
            params: { query: { ...(accountId === undefined ? {} : { account_id: accountId }), ...page } },
          }),
        ),
      ),
  });
}

/** The people of an account; for partial users their own entry. */
export function usePeople(accountId: string) {
  return useQuery({
    queryKey: ['member', accountId],
    queryFn: async () => {
      const { results } = await answered(
        hosting.GET('/accounts/{account_id}/account_users', { params: { path: { account_id: accountId } } }),
      );
      return results;
    },
  });
}

/** What a new install can be given. */
export function useInstallOptions() {
  return useQuery({
    queryKey: ['install-options'],
    queryFn: () => answered(portal.GET('/portal/api/install_options')),
    staleTime: 60_000,
  });
}
