import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { allPages } from '../../api/all-pages.ts';
import { type BodyOf, hosting, type PortalPaths, portal } from '../../api/client.ts';
import { ApiFailure, answered } from '../../api/failure.ts';
import { WHILE_MOVING_MS } from '../../api/queries.ts';

type OperationsAnswer = BodyOf<PortalPaths['/portal/api/installs/{install_id}/operations']['get']>;
export type Operation = OperationsAnswer['results'][number];
export type NextTurns = OperationsAnswer['next'];

const ofInstall = (installId: string) => ({ params: { path: { install_id: installId } } });

export const isUnderWay = ({ state }: Pick<Operation, 'state'>) => state === 'queued' || state === 'running';

/** What is being done to an install and was done of late, the latest first, and when what is limited may be asked for again. */
export function useOperations(installId: string) {
  return useQuery({
    queryKey: ['operation', installId],
    queryFn: () => answered(portal.GET('/portal/api/installs/{install_id}/operations', ofInstall(installId))),
    refetchInterval: ({ state }) => (state.data?.results.some(isUnderWay) ? WHILE_MOVING_MS : false),
  });
}

export function useDomains(installId: string) {
  return useQuery({
    queryKey: ['domain', installId],
    queryFn: () =>
      allPages((page) =>
        answered(
          hosting.GET('/installs/{install_id}/domains', {
            params: { path: { install_id: installId }, query: page },
          }),
        ),
      ),
    refetchInterval: ({ state }) =>
      state.data?.some(({ network_details: { network_info } }) => network_info.status === 'PENDING')
        ? WHILE_MOVING_MS
        : false,
  });
}

/** What stands behind the words of each domain. */
export function useDomainStates(installId: string) {
  return useQuery({
    queryKey: ['domain', installId, 'states'],
    queryFn: async () => {
      const { results } = await answered(
        portal.GET('/portal/api/installs/{install_id}/domain_states', ofInstall(installId)),
      );
      return results;
    },
  });
}

/** How often a report that is being made is looked at. */
const REPORT_MS = 1_000;

/** A status report; null: it is not kept any more. */
export function useReport(installId: string, reportId: string | null) {
  return useQuery({
    queryKey: ['report', installId, reportId],
    enabled: reportId !== null,
    queryFn: async () => {
      try {
        const { report } = await answered(
          hosting.GET('/installs/{install_id}/domains/check_status/{report_id}', {
            params: { path: { install_id: installId, report_id: reportId ?? '' } },
          }),
        );
        return report;
      } catch (error) {
        return noneFor404(error);
      }
    },
    refetchInterval: ({ state }) => (state.data?.complete === false ? REPORT_MS : false),
  });
}

export function useCertificate(installId: string, domainId: string) {
  return useQuery({
    queryKey: ['domain', installId, 'certificate', domainId],
    // A private key may come with it, and is not kept longer than it is looked at.
    gcTime: 0,
    queryFn: async () => {
      try {
        return await answered(
          hosting.GET('/installs/{install_id}/domains/{domain_id}/ssl_certificate', {
            params: { path: { install_id: installId, domain_id: domainId } },
          }),
        );
      } catch (error) {
        return noneFor404(error);
      }
    },
  });
}

export const BACKUPS_A_PAGE = 25;

export function useBackups(installId: string, page: number) {
  return useQuery({
    queryKey: ['backup', installId, page],
    placeholderData: keepPreviousData,
    queryFn: () =>
      answered(
        portal.GET('/portal/api/installs/{install_id}/backups', {
          params: {
            path: { install_id: installId },
            query: { limit: BACKUPS_A_PAGE, offset: page * BACKUPS_A_PAGE },
          },
        }),
      ),
    refetchInterval: ({ state }) =>
      state.data?.results.some(({ status }) => status === 'requested' || status === 'in_progress')
        ? WHILE_MOVING_MS
        : false,
  });
}

/** The offload settings in force; null: none. */
export function useOffloadSettings(installId: string) {
  return useQuery({
    queryKey: ['offload', installId, 'settings'],
    queryFn: async () => {
      try {
        const { filestore_settings } = await answered(
          hosting.GET('/installs/{install_id}/offload_settings/files', ofInstall(installId)),
        );
        return filestore_settings;
      } catch (error) {
        return noneFor404(error);
      }
    },
  });
}

/** How the last request for offload settings fared. */
export function useOffloadStanding(installId: string) {
  return useQuery({
    queryKey: ['offload', installId, 'standing'],
    queryFn: () => answered(portal.GET('/portal/api/installs/{install_id}/offload', ofInstall(installId))),
    refetchInterval: ({ state }) => (state.data?.state === 'requested' ? WHILE_MOVING_MS : false),
  });
}

export function useValidationFile(installId: string) {
  return useQuery({
    queryKey: ['offload', installId, 'validation'],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: () =>
      answered(
        hosting.GET(
          '/installs/{install_id}/offload_settings/filestore_validation_file',
          ofInstall(installId),
        ),
      ),
  });
}

export type Domain = NonNullable<ReturnType<typeof useDomains>['data']>[number];
export type DomainState = NonNullable<ReturnType<typeof useDomainStates>['data']>[number];
export type Report = NonNullable<ReturnType<typeof useReport>['data']>;
export type DomainCheck = Report['domains'][number];
export type Backup = NonNullable<ReturnType<typeof useBackups>['data']>['results'][number];
export type OffloadSettings = NonNullable<ReturnType<typeof useOffloadSettings>['data']>;

function noneFor404(error: unknown): null {
  if (error instanceof ApiFailure && error.status === 404) return null;
  throw error;
}
