import { useQuery } from '@tanstack/react-query';
import { type BodyOf, type HostingPaths, hosting } from './client.ts';
import { unwrap } from './failure.ts';

export type WordPress = BodyOf<HostingPaths['/installs/{install_id}/wordpress']['get']>;
export type WordPressPlugin = WordPress['plugins'][number];
export type WordPressTheme = WordPress['themes'][number];
export type WordPressAdministrator = WordPress['administrators'][number];
export type SiteHealth = WordPress['site_health'];

/** Loads the contents of the WordPress of an install. */
export function useWordPress(installId: string) {
  return useQuery({
    queryKey: ['install', installId, 'wordpress'],
    queryFn: () =>
      unwrap(
        hosting.GET('/installs/{install_id}/wordpress', { params: { path: { install_id: installId } } }),
      ),
  });
}
