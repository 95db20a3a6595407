import { useQuery } from '@tanstack/react-query';
import { type BodyOf, type HostingPaths, hosting, type PortalPaths, portal } from './client.ts';
import { unwrap } from './failure.ts';
import { POLL_MS } from './queries.ts';

type OperationsAnswer = BodyOf<PortalPaths['/portal/api/installs/{install_id}/operations']['get']>;
export type Operation = OperationsAnswer['results'][number];
export type OperationResult = Operation['result'];
export type NextTurns = OperationsAnswer['next'];

export const isUnderWay = ({ status }: Pick<Operation, 'status'>) =>
  status === 'queued' || status === 'running';

/**
 * Loads the current and recent operations of an install, newest first, and when rate-limited ones may be requested
 * again.
 */
export function useOperations(installId: string) {
  return useQuery({
    queryKey: ['operation', installId],
    queryFn: () =>
      unwrap(
        portal.GET('/portal/api/installs/{install_id}/operations', {
          params: { path: { install_id: installId } },
        }),
      ),
    refetchInterval: ({ state }) => (state.data?.results.some(isUnderWay) ? POLL_MS : false),
  });
}

export type AccountOperation = BodyOf<HostingPaths['/operations']['get']>['results'][number];

/** Number of operations shown of each state. */
const SHOWN = 20;

/** Loads the running and waiting operations of an account, and their number. */
export function useRunningOperations(accountId: string) {
  return useQuery({
    queryKey: ['operation', accountId, 'running'],
    queryFn: async () => {
      const [running, queued] = await Promise.all(
        (['running', 'queued'] as const).map((status) =>
          unwrap(
            hosting.GET('/operations', {
              params: { query: { account_id: accountId, status, limit: SHOWN } },
            }),
          ),
        ),
      );
      return {
        count: (running?.count ?? 0) + (queued?.count ?? 0),
        results: [...(running?.results ?? []), ...(queued?.results ?? [])].slice(0, SHOWN),
      };
    },
    refetchInterval: ({ state }) => (state.data?.results.length ? POLL_MS : false),
  });
}

/** Loads one operation, until it has ended. */
export function useOperation(operationId: string) {
  return useQuery({
    queryKey: ['operation', 'one', operationId],
    queryFn: () =>
      unwrap(hosting.GET('/operations/{operation_id}', { params: { path: { operation_id: operationId } } })),
    refetchInterval: ({ state }) => (state.data === undefined || isUnderWay(state.data) ? POLL_MS : false),
  });
}
