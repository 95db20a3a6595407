import { useQuery } from '@tanstack/react-query';
import { allPages } from './all-pages.ts';
import { hosting, portal } from './client.ts';
import { nullFor404, unwrap } from './failure.ts';
import { POLL_MS } from './queries.ts';

export function useDomains(installId: string) {
  return useQuery({
    queryKey: ['domain', installId],
    queryFn: () =>
      allPages((page) =>
        unwrap(
          hosting.GET('/installs/{install_id}/domains', {
            params: { path: { install_id: installId }, query: page },
          }),
        ),
      ),
    refetchInterval: ({ state }) =>
      state.data?.some(({ network_details: { network_info } }) => network_info.status === 'PENDING')
        ? POLL_MS
        : false,
  });
}

/** Loads details of each domain that the hosting API does not have. */
export function useDomainStates(installId: string) {
  return useQuery({
    queryKey: ['domain', installId, 'states'],
    queryFn: async () => {
      const { results } = await unwrap(
        portal.GET('/portal/api/installs/{install_id}/domain_states', {
          params: { path: { install_id: installId } },
        }),
      );
      return results;
    },
  });
}

/** Polling interval of an incomplete report. */
const REPORT_MS = 1_000;

/** Loads a status report; null if it was deleted after its retention period. */
export function useReport(installId: string, reportId: string | null) {
  return useQuery({
    queryKey: ['report', installId, reportId],
    enabled: reportId !== null,
    queryFn: async () => {
      try {
        const { report } = await unwrap(
          hosting.GET('/installs/{install_id}/domains/check_status/{report_id}', {
            params: { path: { install_id: installId, report_id: reportId ?? '' } },
          }),
        );
        return report;
      } catch (error) {
        return nullFor404(error);
      }
    },
    refetchInterval: ({ state }) => (state.data?.complete === false ? REPORT_MS : false),
  });
}

/** Loads the certificate of a domain; null without one. Waits for a `domainId`. */
export function useCertificate(installId: string, domainId: string | undefined) {
  return useQuery({
    queryKey: ['domain', installId, 'certificate', domainId],
    enabled: domainId !== undefined,
    queryFn: async () => {
      try {
        return await unwrap(
          hosting.GET('/installs/{install_id}/domains/{domain_id}/ssl_certificate', {
            params: { path: { install_id: installId, domain_id: domainId ?? '' } },
          }),
        );
      } catch (error) {
        return nullFor404(error);
      }
    },
  });
}

export type Domain = NonNullable<ReturnType<typeof useDomains>['data']>[number];
export type DomainState = NonNullable<ReturnType<typeof useDomainStates>['data']>[number];
export type Report = NonNullable<ReturnType<typeof useReport>['data']>;
export type DomainCheck = Report['domains'][number];
