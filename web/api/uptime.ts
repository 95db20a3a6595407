import { useQuery } from '@tanstack/react-query';
import { type BodyOf, type HostingPaths, hosting } from './client.ts';
import { unwrap } from './failure.ts';

export type Uptime = BodyOf<HostingPaths['/installs/{install_id}/uptime']['get']>;
export type UptimeDay = Uptime['days'][number];
export type IncidentPage = BodyOf<HostingPaths['/installs/{install_id}/incidents']['get']>;
export type Incident = IncidentPage['results'][number];

/** A check takes place each minute. Incidents arrive with the live changes. */
const EVERY_MS = 60_000;

/** Loads whether the website of an install answers, and how often it did. */
export function useUptime(installId: string) {
  return useQuery({
    queryKey: ['uptime', installId],
    refetchInterval: EVERY_MS,
    queryFn: () =>
      unwrap(hosting.GET('/installs/{install_id}/uptime', { params: { path: { install_id: installId } } })),
  });
}

/** Loads the latest incidents of an install. */
export function useIncidents(installId: string, limit: number) {
  return useQuery({
    queryKey: ['uptime', installId, 'incidents', limit],
    placeholderData: (former) => former,
    queryFn: () =>
      unwrap(
        hosting.GET('/installs/{install_id}/incidents', {
          params: { path: { install_id: installId }, query: { limit } },
        }),
      ),
  });
}
