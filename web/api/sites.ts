import { useQuery } from '@tanstack/react-query';
import { allPages } from './all-pages.ts';
import { type BodyOf, type HostingPaths, hosting } from './client.ts';
import { unwrap } from './failure.ts';

export type Site = BodyOf<HostingPaths['/sites/{site_id}']['get']>;

/** The server's limit for the name of a site, in characters. */
export const LONGEST_SITE_NAME = 40;

/** Loads all sites of an account that the user may see. */
export function useSites(accountId: string) {
  return useQuery({
    queryKey: ['site', accountId],
    queryFn: () =>
      allPages((page) =>
        unwrap(hosting.GET('/sites', { params: { query: { account_id: accountId, ...page } } })),
      ),
  });
}

/** Loads one site. An undefined ID sends no request. */
export function useSite(siteId: string | undefined) {
  return useQuery({
    queryKey: ['site', siteId],
    enabled: siteId !== undefined,
    queryFn: () => unwrap(hosting.GET('/sites/{site_id}', { params: { path: { site_id: siteId ?? '' } } })),
  });
}
