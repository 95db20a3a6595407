import { useQuery } from '@tanstack/react-query';
import { hosting, portal } from './client.ts';
import { nullFor404, unwrap } from './failure.ts';
import { POLL_MS } from './queries.ts';

const ofInstall = (installId: string) => ({ params: { path: { install_id: installId } } });

/** Loads the active offload settings; null without any. */
export function useOffloadSettings(installId: string) {
  return useQuery({
    queryKey: ['offload', installId, 'settings'],
    queryFn: async () => {
      try {
        const { filestore_settings } = await unwrap(
          hosting.GET('/installs/{install_id}/offload_settings/files', ofInstall(installId)),
        );
        return filestore_settings;
      } catch (error) {
        return nullFor404(error);
      }
    },
  });
}

/** Loads the outcome of the last change to the offload settings. */
export function useOffloadStatus(installId: string) {
  return useQuery({
    queryKey: ['offload', installId, 'standing'],
    queryFn: () => unwrap(portal.GET('/portal/api/installs/{install_id}/offload', ofInstall(installId))),
    refetchInterval: ({ state }) =>
      state.data?.state === 'requested' || state.data?.state === 'removing' ? POLL_MS : false,
  });
}

export function useValidationFile(installId: string) {
  return useQuery({
    queryKey: ['offload', installId, 'validation'],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: () =>
      unwrap(
        hosting.GET(
          '/installs/{install_id}/offload_settings/filestore_validation_file',
          ofInstall(installId),
        ),
      ),
  });
}

export type OffloadSettings = NonNullable<ReturnType<typeof useOffloadSettings>['data']>;
