import { useQuery } from '@tanstack/react-query';
import { type BodyOf, type HostingPaths, hosting } from './client.ts';
import { unwrap } from './failure.ts';

export type Site = BodyOf<HostingPaths['/sites/{site_id}']['get']>;

/** A site as the dialogs that change it need it: from its page or from a list. */
export interface ChangedSite extends Pick<Site, 'id' | 'name' | 'tags'> {
  account: { id: string };
  installs: readonly Pick<Site['installs'][number], 'id' | 'name' | 'environment'>[];
}

/** The server's limit for the name of a site, in characters. */
export const LONGEST_SITE_NAME = 40;

export const readSite = (siteId: string) =>
  hosting.GET('/sites/{site_id}', { params: { path: { site_id: siteId } } });

/** Loads one site. An undefined ID sends no request. */
export function useSite(siteId: string | undefined) {
  return useQuery({
    queryKey: ['site', siteId],
    enabled: siteId !== undefined,
    queryFn: () => unwrap(readSite(siteId ?? '')),
  });
}
