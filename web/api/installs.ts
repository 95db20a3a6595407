import { useQuery } from '@tanstack/react-query';
import { type BodyOf, type HostingPaths, hosting, type PortalPaths, portal } from './client.ts';
import { unwrap } from './failure.ts';
import { POLL_MS } from './queries.ts';

export type Install = BodyOf<HostingPaths['/installs/{install_id}']['get']>;
export type Connection = NonNullable<
  BodyOf<PortalPaths['/portal/api/installs/{install_id}/connection']['get']>['connection']
>;

/** Number of installs on the first page of all accounts. */
const FIRST_EVERYWHERE = 20;

/**
 * Loads the first installs of all accounts that the user is in. The key names no account, so that a change to any install
 * reloads it.
 */
export function useFirstInstallsEverywhere() {
  return useQuery({
    queryKey: ['install', undefined, 'everywhere'],
    queryFn: () =>
      unwrap(hosting.GET('/installs', { params: { query: { sort: 'name', limit: FIRST_EVERYWHERE } } })),
  });
}

/** Loads one install. An undefined ID sends no request. */
export function useInstall(installId: string | undefined) {
  return useQuery({
    queryKey: ['install', installId],
    enabled: installId !== undefined,
    queryFn: () =>
      unwrap(hosting.GET('/installs/{install_id}', { params: { path: { install_id: installId ?? '' } } })),
    refetchInterval: ({ state }) => (state.data?.status === 'pending' ? POLL_MS : false),
  });
}

/** Loads how to connect to an install; null until its host has reported its address. */
export function useConnection(installId: string) {
  return useQuery({
    queryKey: ['install', installId, 'connection'],
    queryFn: async () => {
      const { connection } = await unwrap(
        portal.GET('/portal/api/installs/{install_id}/connection', {
          params: { path: { install_id: installId } },
        }),
      );
      return connection;
    },
  });
}

/** Loads the choices for a new install. */
export function useInstallOptions() {
  return useQuery({
    queryKey: ['install-options'],
    queryFn: () => unwrap(portal.GET('/portal/api/install_options')),
    staleTime: 60_000,
  });
}
