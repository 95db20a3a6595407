import { useQuery } from '@tanstack/react-query';
import { type BodyOf, type PortalPaths, portal } from './client.ts';
import { unwrap } from './failure.ts';
import { WHILE_MOVING_MS } from './queries.ts';

type OperationsAnswer = BodyOf<PortalPaths['/portal/api/installs/{install_id}/operations']['get']>;
export type Operation = OperationsAnswer['results'][number];
export type NextTurns = OperationsAnswer['next'];

export const isUnderWay = ({ state }: Pick<Operation, 'state'>) => state === 'queued' || state === 'running';

/** What is being done to an install and was done of late, the latest first, and when what is limited may be asked for again. */
export function useOperations(installId: string) {
  return useQuery({
    queryKey: ['operation', installId],
    queryFn: () =>
      unwrap(
        portal.GET('/portal/api/installs/{install_id}/operations', {
          params: { path: { install_id: installId } },
        }),
      ),
    refetchInterval: ({ state }) => (state.data?.results.some(isUnderWay) ? WHILE_MOVING_MS : false),
  });
}
