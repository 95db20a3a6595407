import { useQuery } from '@tanstack/react-query';
import { type BodyOf, type HostingPaths, hosting, portal } from './client.ts';
import { type ClientResult, unwrap } from './failure.ts';
import { POLL_MS } from './queries.ts';

export type OffloadSettings = BodyOf<
  HostingPaths['/installs/{install_id}/offload_settings/files']['get']
>['filestore_settings'];

const ofInstall = (installId: string) => ({ params: { path: { install_id: installId } } });

/** Reads the active offload settings; null without any. */
export async function readOffloadSettings(installId: string): Promise<ClientResult<OffloadSettings | null>> {
  const answer = await hosting.GET('/installs/{install_id}/offload_settings/files', ofInstall(installId));
  if (answer.response.status === 404) return { data: null, response: new Response() };
  return answer.data ? { data: answer.data.filestore_settings, response: answer.response } : answer;
}

export function useOffloadSettings(installId: string) {
  return useQuery({
    queryKey: ['offload', installId, 'settings'],
    queryFn: () => unwrap(readOffloadSettings(installId)),
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
