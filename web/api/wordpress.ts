import { useQuery } from '@tanstack/react-query';
import { allPages } from './all-pages.ts';
import { type BodyOf, type HostingPaths, hosting } from './client.ts';
import { unwrap } from './failure.ts';

export type WordPress = BodyOf<HostingPaths['/installs/{install_id}/wordpress']['get']>;
export type WordPressPlugin = NonNullable<WordPress['plugins']>[number];
export type WordPressTheme = NonNullable<WordPress['themes']>[number];
export type WordPressAdministrator = NonNullable<WordPress['administrators']>[number];
export type SiteHealth = WordPress['site_health'];
export type WordPressSummary = BodyOf<
  HostingPaths['/accounts/{account_id}/wordpress']['get']
>['results'][number];

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

/** Loads the installs of an account with waiting updates, by install. */
export function useInstallsWithUpdates(accountId: string) {
  return useQuery({
    queryKey: ['install', accountId, 'updates'],
    queryFn: async () => {
      const waiting = await allPages((query) =>
        unwrap(
          hosting.GET('/accounts/{account_id}/wordpress', {
            params: { path: { account_id: accountId }, query: { ...query, updates: 'waiting' } },
          }),
        ),
      );
      return new Map(waiting.map((summary) => [summary.install.id, summary]));
    },
  });
}
